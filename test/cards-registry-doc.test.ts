import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readListedCard } from '../src/agent/registry/listed-card.ts'
import { ASK_MS } from '../src/channel/broker/card-server.ts'
import { MAX_CARD_TERMS, MAX_STAY_SECONDS } from '../src/channel/broker/cards.ts'
import {
  CARDS_PROTOCOL,
  MAX_CARD_ANSWER_BYTES,
  MAX_CARD_BYTES,
  MAX_CARD_REQUEST_BYTES,
  MAX_PAGE_CARDS,
  parseCardAnswer,
  parseCardRequest,
} from '../src/channel/card-registry/messages.ts'
import { RendezvousReader } from '../src/channel/rendezvous/framing.ts'
import { u64 } from '../src/core/u64.ts'
import { ANSWERS, bytesOfExample, CARD, HOLDER, REQUESTS } from './cards-registry-examples.ts'

const document = readFileSync(new URL('../docs/cards-registry.md', import.meta.url), 'utf8')
const blocks = new Map(
  [...document.matchAll(/^```(?:hex|text) (\S+)\n(.*?)^```/gms)].map(([, name = '', body = '']) => [name, body.trim()]),
)
const rows = new Map(
  [...document.matchAll(/^\| `([A-Z_]+)` \| (\d+) \|/gm)].map(([, key = '', value = '']) => [key, Number(value)]),
)
const CONSTANTS = {
  MAX_CARD_BYTES,
  MAX_CARD_REQUEST_BYTES,
  MAX_CARD_ANSWER_BYTES,
  MAX_PAGE_CARDS,
  MAX_CARD_TERMS,
  MAX_STAY_SECONDS,
  ASK_MS,
}

function bytesIn(name: string): Uint8Array {
  return Buffer.from((blocks.get(name) ?? '').replace(/\s/g, ''), 'hex')
}

describe('docs/cards-registry.md', () => {
  const examples = [
    ...Object.entries(REQUESTS).map(([name, value]) => ({ name, value, parse: parseCardRequest })),
    ...Object.entries(ANSWERS).map(([name, value]) => ({ name, value, parse: parseCardAnswer })),
  ]
  for (const { name, value, parse } of examples) {
    it(`shows the bytes that the program writes and reads: ${name}`, () => {
      expect(Buffer.from(bytesIn(name)).toString('hex')).toBe(Buffer.from(bytesOfExample(name)).toString('hex'))
      expect(new RendezvousReader(MAX_CARD_ANSWER_BYTES).push(bytesIn(name)).map((payload) => parse(payload))).toEqual([
        value,
      ])
    })
  }

  it('has no example that is not replayed', () => {
    expect([...blocks.keys()].sort()).toEqual(['card', ...examples.map(({ name }) => name)].sort())
  })

  it('shows a card that verifies, and its holder', () => {
    expect(blocks.get('card')).toBe(CARD)
    expect(readListedCard(blocks.get('card') ?? '', u64(1_999_999_999))).toMatchObject({ holder: HOLDER.id })
    expect(document).toContain(`\`${HOLDER.id}\``)
  })

  it('gives every bound as the code does, and names the protocol', () => {
    expect(Object.fromEntries(rows)).toEqual(CONSTANTS)
    expect(document).toContain(`\`${CARDS_PROTOCOL}\``)
  })
})
