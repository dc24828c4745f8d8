import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { base32 } from 'multiformats/bases/base32'
import { describe, expect, it } from 'vitest'
import { NOISE_ATTESTATION } from '../src/channel/membership/attestation.ts'
import { GRANT } from '../src/channel/membership/grant.ts'
import { sealStaple } from '../src/channel/membership/staple.ts'
import { SESSION_PROTOCOL } from '../src/channel/node/node.ts'
import { CALL_TAG_BYTES, encodeCallTag, parseCallTag } from '../src/channel/session/call-tag.ts'
import { encodeFrame, FRAME, FrameReader, type FrameType, MAX_PAYLOAD_BYTES } from '../src/channel/session/frame.ts'
import {
  type Bye,
  encodeBye,
  encodeHello,
  type Hello,
  MAX_BYE_BYTES,
  MAX_HELLO_BYTES,
  parseBye,
  parseHello,
} from '../src/channel/session/hello.ts'
import { IDLE_CHECK_MS, WATCHED_CHECK_MS } from '../src/channel/session/liveness.ts'
import { HIGH_WATER_BYTES } from '../src/channel/session/outbox.ts'
import { CREDIT_PORTION_BYTES, PIPE_WINDOW_BYTES } from '../src/channel/session/pipe-flow.ts'
import { HELLO_TIMEOUT_MS } from '../src/channel/session/session.ts'
import { formatTicket, parseTicket, ticketProof } from '../src/channel/ticket.ts'
import { seal } from '../src/core/artefact.ts'
import { isErrorCode } from '../src/core/errors.ts'
import { type ChannelId, type InstanceId } from '../src/core/ids.ts'
import { holderKey, noiseKey, SecretKey } from '../src/core/keys.ts'
import { u64 } from '../src/core/u64.ts'
import { MAX_UNACKNOWLEDGED_CALLS, RECORD_TTL_MS, RESUME_GRACE_MS } from '../src/mcp/serving/call-ledger.ts'
import { MAX_KEPT_BYTES_PER_PEER } from '../src/mcp/serving/ledger-store.ts'

const document = readFileSync(new URL('../docs/protocol.md', import.meta.url), 'utf8')
const blocks = new Map(
  [...document.matchAll(/^```(hex|text) (\S+)\n(.*?)^```/gms)].map(([, kind, name = '', body = '']) => [
    name,
    kind === 'hex' ? body.replace(/#.*$/gm, '').replace(/\s/g, '') : body.trim(),
  ]),
)
const block = (name: string): string => blocks.get(name) ?? `no example ${name}`

const runOf = (byte: string): InstanceId => byte.repeat(16) as InstanceId
const secret = new SecretKey(new Uint8Array(32).fill(7))
const server = holderKey(new SecretKey(new Uint8Array(32).fill(3))).id
const caller = holderKey(new SecretKey(new Uint8Array(32).fill(2))).id

const HELLO_CALLER: Hello = {
  version: 1,
  mode: 'call',
  run: runOf('a1'),
  agent: 'ct-agent/0.1.0',
  limits: { messageBytes: 8_388_608, inFlight: 0, idleSeconds: 0 },
  calls: 'fresh',
  proof: Uint8Array.from(ticketProof(secret, caller, server)),
}
const { proof: _, ...CALLER_WITHOUT_TICKET } = HELLO_CALLER
const MEMBER = { channel: 'c4'.repeat(32) as ChannelId, holder: caller }
const PERMISSION = { direction: 'initiate', rights: 'rw', delegable: false, expiresAt: u64(2_000_000_000) } as const
const GRANT_OF_CALLER = seal(GRANT, { ...MEMBER, ...PERMISSION }, new SecretKey(new Uint8Array(32).fill(1)))
const ATTESTATION = seal(
  NOISE_ATTESTATION,
  { ...MEMBER, noiseKey: noiseKey(new SecretKey(new Uint8Array(32).fill(4))).id },
  new SecretKey(new Uint8Array(32).fill(2)),
)
const HELLO_MEMBER: Hello = {
  ...CALLER_WITHOUT_TICKET,
  credentials: {
    grants: [{ body: GRANT_OF_CALLER.body, signature: GRANT_OF_CALLER.signature }],
    attestation: ATTESTATION.signature,
  },
}
const STAPLE = sealStaple(MEMBER, new SecretKey(new Uint8Array(32).fill(1)), u64(1_900_000_000))
const HELLO_STAPLED: Hello = {
  ...HELLO_MEMBER,
  ...(HELLO_MEMBER.credentials === undefined
    ? {}
    : { credentials: { ...HELLO_MEMBER.credentials, staple: { body: STAPLE.body, signature: STAPLE.signature } } }),
}
const HELLO_SERVER: Hello = {
  version: 1,
  mode: 'serve',
  run: runOf('5e'),
  agent: 'ct-agent/0.1.0',
  limits: { messageBytes: 8_388_608, inFlight: 64, idleSeconds: 300 },
}
const BYE: Bye = { code: 'ERR_PEER_BUSY', reason: 'all 8 sessions are taken', final: false, retryAfterMs: 1_000 }
const TAG = { instance: runOf('a1'), sequence: 258, acknowledgedBelow: 257, resent: true }
const TEXT = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}')

interface Example {
  readonly name: string
  readonly type: FrameType
  /** What the program would write. */
  readonly payload: Uint8Array
  /** What the program makes of the payload, and what it should. */
  readonly read?: readonly [(payload: Uint8Array) => unknown, unknown]
}

const examples: readonly Example[] = [
  {
    name: 'hello-caller',
    type: FRAME.hello,
    payload: encodeHello(HELLO_CALLER),
    read: [parseHello, HELLO_CALLER],
  },
  { name: 'hello-member', type: FRAME.hello, payload: encodeHello(HELLO_MEMBER), read: [parseHello, HELLO_MEMBER] },
  { name: 'hello-stapled', type: FRAME.hello, payload: encodeHello(HELLO_STAPLED), read: [parseHello, HELLO_STAPLED] },
  { name: 'hello-server', type: FRAME.hello, payload: encodeHello(HELLO_SERVER), read: [parseHello, HELLO_SERVER] },
  { name: 'bye', type: FRAME.bye, payload: encodeBye(BYE), read: [parseBye, BYE] },
  { name: 'message', type: FRAME.message, payload: TEXT },
  {
    name: 'call',
    type: FRAME.call,
    payload: Buffer.concat([encodeCallTag(TAG), TEXT]),
    read: [(payload) => parseCallTag(payload, TAG.instance), TAG],
  },
  { name: 'credit', type: FRAME.credit, payload: Buffer.from([0, 4, 0, 0]) },
  { name: 'end', type: FRAME.end, payload: new Uint8Array(0) },
  { name: 'endAck', type: FRAME.endAck, payload: new Uint8Array(0) },
  { name: 'ping', type: FRAME.ping, payload: new Uint8Array(8) },
]

/** Rows of all tables whose first cell is in backquotes, by that cell. */
const rows = new Map(
  [...document.matchAll(/^\| `([^`]+)` \| ([^|]+?) \|/gm)].map(([, key = '', value = '']) => [key, value] as const),
)

const CONSTANTS = {
  MAX_PAYLOAD_BYTES,
  MAX_HELLO_BYTES,
  MAX_BYE_BYTES,
  CALL_TAG_BYTES,
  HIGH_WATER_BYTES,
  PIPE_WINDOW_BYTES,
  CREDIT_PORTION_BYTES,
  HELLO_TIMEOUT_MS,
  WATCHED_CHECK_MS,
  IDLE_CHECK_MS,
  RESUME_GRACE_MS,
  RECORD_TTL_MS,
  MAX_UNACKNOWLEDGED_CALLS,
  MAX_KEPT_BYTES_PER_PEER,
}

describe('docs/protocol.md', () => {
  for (const { name, type, payload, read } of examples) {
    it(`shows the bytes that the program writes and reads: ${name}`, () => {
      expect(block(name)).toBe(Buffer.from(encodeFrame(type, payload)).toString('hex'))
      const frames: { type: FrameType; payload: Uint8Array }[] = []
      new FrameReader((got, bytes) => frames.push({ type: got, payload: Uint8Array.from(bytes) })).push(
        Buffer.from(block(name), 'hex'),
      )
      expect(frames).toEqual([{ type, payload: Uint8Array.from(payload) }])
      if (read !== undefined) expect(read[0](payload)).toEqual(read[1])
    })
  }

  it('shows the ticket that the program writes and reads, and its bytes', () => {
    const addresses = [
      { host: '192.0.2.7', port: 4433 },
      { host: '2001:db8::7', port: 4433 },
    ]
    expect(block('ticket')).toBe(formatTicket({ holder: server, addresses, secret }))
    const ticket = parseTicket(block('ticket'))
    expect([ticket.holder, ticket.addresses, ticket.secret?.reveal()]).toEqual([server, addresses, secret.reveal()])
    const bytes = base32.baseDecode(block('ticket').slice(3))
    expect(block('ticket-bytes')).toBe(Buffer.from(bytes).toString('hex'))
    expect(bytes.subarray(-4)).toEqual(
      Uint8Array.from(createHash('sha256').update(bytes.subarray(0, -4)).digest().subarray(0, 4)),
    )
  })

  it('shows the ticket with a broker that the program writes and reads, and its bytes', () => {
    const peer = '12D3KooWDpJ7As7BWAwRMfu1VU2WCqNjvq387JEYKDBj4kx6nXTN'
    const operator = new SecretKey(new Uint8Array(32).fill(1))
    const invited = { ...MEMBER, ...PERMISSION, holder: holderKey(secret).id, delegable: true }
    const { body, signature } = seal(GRANT, invited, operator)
    const rendezvous = {
      broker: [
        { host: '192.0.2.9', port: 4435, transport: 'tcp', peer },
        { host: 'broker.example', port: 443, transport: 'wss', peer },
      ],
      operator: holderKey(operator).id,
      grant: { body, signature },
    } as const
    expect(block('ticket-broker')).toBe(formatTicket({ holder: server, addresses: [], secret, rendezvous }))
    const { secret: read, ...ticket } = parseTicket(block('ticket-broker'))
    expect(ticket).toEqual({ holder: server, addresses: [], rendezvous })
    expect(read?.reveal()).toEqual(secret.reveal())
    const bytes = base32.baseDecode(block('ticket-broker').slice(3))
    expect(block('ticket-broker-bytes')).toBe(Buffer.from(bytes).toString('hex'))
  })

  it('derives the proof of the example hello from the example ticket', () => {
    expect(document).toContain(`\`${caller}\``)
    expect(block('hello-caller')).toContain(Buffer.from(ticketProof(secret, caller, server)).toString('hex'))
  })

  it('has no example that is not replayed', () => {
    const tickets = ['ticket', 'ticket-bytes', 'ticket-broker', 'ticket-broker-bytes']
    expect([...blocks.keys()].sort()).toEqual([...examples.map(({ name }) => name), ...tickets].sort())
  })

  it('names every frame type with its number', () => {
    const named = [...rows].filter(([key]) => /^0x0/.test(key)).map(([key, name]) => [name, Number(key)])
    expect(Object.fromEntries(named)).toEqual(FRAME)
  })

  for (const [name, value] of Object.entries(CONSTANTS)) {
    it(`gives ${name} as the code does`, () => expect(rows.get(name)).toBe(String(value)))
  }

  it('names only constants that the code has', () => {
    const constants = [...document.matchAll(/`([A-Z]+(?:_[A-Z]+)+)`/g)].map(([, name = '']) => name)
    expect(constants.filter((name) => !(name in CONSTANTS) && !isErrorCode(name))).toEqual([])
  })

  it('names the protocol', () => expect(document).toContain(`\`${SESSION_PROTOCOL}\``))
})
