import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { PUBLICATIONS } from '../src/channel/broker/admission.ts'
import { KEEP_MS } from '../src/channel/broker/kept-lists.ts'
import { JOIN_MS, SILENCE_MS } from '../src/channel/broker/member.ts'
import { MAX_MESSAGES } from '../src/channel/broker/member-link.ts'
import { GOODBYE_MS } from '../src/channel/broker/relay-gate.ts'
import { MAX_HOLDER_INITIATORS, MAX_HOLDER_WATCHERS } from '../src/channel/broker/room.ts'
import { MAX_REMOVED } from '../src/channel/membership/revocations.ts'
import { MAX_SHOWN_SUCCESSIONS, MAX_SUCCESSIONS } from '../src/channel/membership/succession.ts'
import { MAX_ADDRESSES } from '../src/channel/rendezvous/fields.ts'
import { encodeRendezvousFrame, RendezvousReader } from '../src/channel/rendezvous/framing.ts'
import {
  encodeFromBroker,
  encodeFromMember,
  MAX_LIST_MESSAGE_BYTES,
  MAX_RENDEZVOUS_BYTES,
  parseFromBroker,
  parseFromMember,
  RENDEZVOUS_PROTOCOL,
} from '../src/channel/rendezvous/messages.ts'
import { isErrorCode } from '../src/core/errors.ts'
import { FROM_BROKER, FROM_MEMBER } from './rendezvous-examples.ts'

const document = readFileSync(new URL('../docs/rendezvous.md', import.meta.url), 'utf8')
const blocks = new Map(
  [...document.matchAll(/^```hex (\S+)\n(.*?)^```/gms)].map(([, name = '', body = '']) => [
    name,
    body.replace(/#.*$/gm, '').replace(/\s/g, ''),
  ]),
)

const examples = [
  ...Object.entries(FROM_MEMBER).map(([name, message]) => ({
    name,
    message,
    payload: encodeFromMember(message),
    parse: (bytes: Uint8Array): unknown => parseFromMember(bytes),
  })),
  ...Object.entries(FROM_BROKER).map(([name, message]) => ({
    name,
    message,
    payload: encodeFromBroker(message),
    parse: (bytes: Uint8Array): unknown => parseFromBroker(bytes),
  })),
]

const CONSTANTS = {
  MAX_RENDEZVOUS_BYTES,
  MAX_LIST_MESSAGE_BYTES,
  MAX_ADDRESSES,
  MAX_REMOVED,
  MAX_SUCCESSIONS,
  MAX_SHOWN_SUCCESSIONS,
  MAX_HOLDER_INITIATORS,
  MAX_HOLDER_WATCHERS,
  MAX_MESSAGES,
}

/** Rows of all tables whose first cell is in backquotes, by that cell. */
const rows = new Map(
  [...document.matchAll(/^\| `([^`]+)` \| ([^|]+?) \|/gm)].map(([, key = '', value = '']) => [key, value] as const),
)

describe('docs/rendezvous.md', () => {
  for (const { name, message, payload, parse } of examples) {
    it(`shows the bytes that the program writes and reads: ${name}`, () => {
      expect(blocks.get(name)).toBe(Buffer.from(encodeRendezvousFrame(payload)).toString('hex'))
      const shown = new RendezvousReader().push(Buffer.from(blocks.get(name) ?? '', 'hex'))
      expect(shown.map(parse)).toEqual([message])
    })
  }

  it('has no example that is not replayed', () => {
    expect([...blocks.keys()].sort()).toEqual(examples.map(({ name }) => name).sort())
  })

  for (const [name, value] of Object.entries(CONSTANTS)) {
    it(`gives ${name} as the code does`, () => expect(rows.get(name)).toBe(String(value)))
  }

  it('names only constants and codes that the code has', () => {
    const names = [...document.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name = '']) => name)
    expect(names.filter((name) => !(name in CONSTANTS) && !isErrorCode(name))).toEqual([])
  })

  it('gives times and paces as the code does', () => {
    for (const text of [
      `after ${SILENCE_MS / 1_000} s of silence`,
      `ends ${GOODBYE_MS} ms later`,
      `and ${KEEP_MS / 3_600_000} h longer`,
      `lasts ${JOIN_MS / 1_000} s at most`,
      `gets ${PUBLICATIONS.budget} in a minute`,
    ]) {
      expect(document.replace(/\s+/g, ' ')).toContain(text)
    }
  })

  it('names the protocol', () => expect(document).toContain(`\`${RENDEZVOUS_PROTOCOL}\``))
})
