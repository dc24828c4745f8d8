import { encode } from 'cborg'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { readListedCard } from '../../../src/agent/registry/listed-card.ts'
import { cardJson, sealCard } from '../../../src/cards/index.ts'
import {
  ASK_MS,
  CardServer,
  MAX_ASKING_OF_SOURCE,
  PUBLISHES,
  QUESTIONS,
} from '../../../src/channel/broker/card-server.ts'
import { CardRegistry } from '../../../src/channel/broker/cards.ts'
import { Counters } from '../../../src/channel/broker/counters.ts'
import {
  type CardAnswer,
  type CardRequest,
  encodeCardRequest,
  MAX_CARD_ANSWER_BYTES,
  MAX_CARD_REQUEST_BYTES,
  parseCardAnswer,
} from '../../../src/channel/card-registry/messages.ts'
import { encodeLengthFrame, RendezvousReader } from '../../../src/channel/rendezvous/framing.ts'
import { type ErrorCode } from '../../../src/core/errors.ts'
import { writeExactJson } from '../../../src/core/exact-json.ts'
import { type HolderKey, holderKey, SecretKey } from '../../../src/core/keys.ts'
import { type UnixSeconds, u64 } from '../../../src/core/u64.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { silentLog } from '../../silent-log.ts'
import { TestWire } from '../test-wire.ts'

const [ALICE, BOB] = [1, 2].map((seed) => holderKey(new SecretKey(Buffer.alloc(32, seed)))) as [HolderKey, HolderKey]

let clock: FakeClock
let registry: CardRegistry
let counters: Counters
let server: CardServer
let isMember: boolean
let isDraining: boolean

beforeEach(() => {
  clock = new FakeClock()
  registry = new CardRegistry({ cards: 100, perSource: 100 })
  counters = new Counters()
  isMember = true
  isDraining = false
  server = new CardServer({
    registry,
    read: readListedCard,
    mayPublish: () => isMember,
    isDraining: () => isDraining,
    counters,
    clock,
    log: silentLog,
  })
  server.start()
})

interface Times {
  readonly issuedAt?: UnixSeconds
  readonly expiresAt?: UnixSeconds
}

function cardOf({ id, secret }: HolderKey, { issuedAt = u64(0), expiresAt = u64(3_600) }: Times = {}): string {
  const body = { holder: id, roleTags: ['planner'], skills: [], cells: [], channels: [], issuedAt, expiresAt }
  return writeExactJson(cardJson(sealCard(body, secret)))
}

function open({ id }: HolderKey = ALICE, host = '203.0.113.5'): TestWire {
  const wire = new TestWire()
  server.accept(wire, { holder: id, observed: { host, port: 50_000 } })
  return wire
}

function framed(request: CardRequest): Uint8Array {
  return encodeLengthFrame(encodeCardRequest(request), MAX_CARD_REQUEST_BYTES)
}

function answersOn(wire: TestWire): readonly CardAnswer[] {
  const reader = new RendezvousReader(MAX_CARD_ANSWER_BYTES)
  return wire.writes.flatMap((bytes) => reader.push(bytes)).map(parseCardAnswer)
}

function ask(request: CardRequest, from: HolderKey = ALICE, host?: string): CardAnswer | undefined {
  const wire = open(from, host)
  wire.deliver(framed(request))
  return answersOn(wire)[0]
}

const FIND = { kind: 'find', limit: 10 } as const

describe('the card registry of a broker', () => {
  it('keeps the card that its holder publishes, and gives out the very text', () => {
    const card = cardOf(ALICE)
    expect(ask({ kind: 'publish', card })).toEqual({ kind: 'published', until: 3_600n })
    expect(ask({ ...FIND, role: 'planner' }, BOB)).toEqual({ kind: 'found', cards: [card] })
    expect(ask({ ...FIND, role: 'plan' }, BOB)).toEqual({ kind: 'found', cards: [] })
    expect(counters).toMatchObject({ cardsPublished: 1, cardQueries: 2, cardsRefused: 0 })
  })

  it('lets its holder alone withdraw it', () => {
    ask({ kind: 'publish', card: cardOf(ALICE) })
    expect(ask({ kind: 'withdraw' }, BOB)).toEqual({ kind: 'withdrawn', found: false })
    expect(registry.size).toBe(1)
    expect(ask({ kind: 'withdraw' })).toEqual({ kind: 'withdrawn', found: true })
    expect(registry.size).toBe(0)
  })

  it('ends the stream after the answer, and answers nothing more on it', async () => {
    const wire = open()
    wire.deliver(Buffer.concat([framed(FIND), framed(FIND)]))
    wire.deliver(framed(FIND))
    expect(answersOn(wire)).toHaveLength(1)
    await Promise.resolve()
    expect(wire.isOpen).toBe(false)
    expect(clock.timers).toBe(1)
  })

  it('reads a question that comes in single bytes', () => {
    const wire = open()
    for (const byte of framed({ kind: 'publish', card: cardOf(ALICE) })) wire.deliver(Uint8Array.of(byte))
    expect(answersOn(wire)).toMatchObject([{ kind: 'published' }])
  })

  it('forgets cards as they expire', () => {
    ask({ kind: 'publish', card: cardOf(ALICE, { expiresAt: u64(60) }) })
    clock.advance(59_000)
    expect(ask(FIND)).toMatchObject({ cards: [expect.any(String)] })
    clock.advance(1_000)
    expect(ask(FIND)).toMatchObject({ cards: [] })
    clock.advance(10_000)
    expect(registry.size).toBe(0)
    expect(counters.cardsExpired).toBe(1)
  })

  const refused: readonly { name: string; card: () => string; code: ErrorCode; category: string }[] = [
    {
      name: 'the card of somebody else',
      card: () => cardOf(BOB),
      code: 'ERR_PEER_REFUSED',
      category: 'possession',
    },
    {
      name: 'a card that was changed after it was signed',
      card: () => cardOf(ALICE).replace('planner', 'plannex'),
      code: 'ERR_SIGNATURE_INVALID',
      category: 'card-verify',
    },
    {
      name: 'an expired card',
      card: () => cardOf(ALICE, { expiresAt: u64(0) }),
      code: 'ERR_ARTEFACT_EXPIRED',
      category: 'card-verify',
    },
    {
      name: 'a card from the future',
      card: () => cardOf(ALICE, { issuedAt: u64(61) }),
      code: 'ERR_ARTEFACT_EARLY',
      category: 'card-verify',
    },
    { name: 'a text that is no card', card: () => '{}', code: 'ERR_ARTEFACT_INVALID', category: 'malformed' },
  ]
  for (const { name, card, code, category } of refused) {
    it(`refuses ${name}`, () => {
      expect(ask({ kind: 'publish', card: card() })).toMatchObject({ kind: 'refused', code, category })
      expect(registry.size).toBe(0)
      expect(counters.cardsRefused).toBe(1)
    })
  }

  it('takes no cards of those that are no members, where it is for members alone, and lets them look', () => {
    isMember = false
    const answer = ask({ kind: 'publish', card: cardOf(ALICE) })
    expect(answer).toMatchObject({ kind: 'refused', code: 'ERR_PEER_REFUSED', category: 'not-member' })
    expect(ask(FIND)).toMatchObject({ kind: 'found' })
  })

  it('tells those that come while the broker drains to come again', () => {
    isDraining = true
    expect(answersOn(open())).toMatchObject([{ kind: 'refused', code: 'ERR_PEER_SHUTDOWN' }])
  })
})

describe('the card registry of a broker that is sent', () => {
  const tooLong = Buffer.alloc(4)
  tooLong.writeUInt32BE(MAX_CARD_REQUEST_BYTES + 1)
  const frame = (value: unknown): Uint8Array => encodeLengthFrame(encode(value), MAX_CARD_REQUEST_BYTES)
  const rows: readonly { name: string; bytes: Uint8Array; category: string }[] = [
    { name: 'HTTP', bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'), category: 'len-oob' },
    { name: 'a length beyond all questions', bytes: tooLong, category: 'len-oob' },
    { name: 'no CBOR', bytes: encodeLengthFrame(Uint8Array.of(0xff), 10), category: 'malformed' },
    { name: 'a list', bytes: frame([]), category: 'malformed' },
    { name: 'another question', bytes: frame({ t: 'delete' }), category: 'malformed' },
    { name: 'a card that is no text', bytes: frame({ t: 'publish', card: 1 }), category: 'malformed' },
    { name: 'a search for nothing', bytes: frame({ t: 'find', limit: 0 }), category: 'malformed' },
    { name: 'a search without a limit', bytes: frame({ t: 'find' }), category: 'malformed' },
    { name: 'a role that is no text', bytes: frame({ t: 'find', limit: 1, role: 7 }), category: 'malformed' },
    { name: 'a role of a book', bytes: frame({ t: 'find', limit: 1, role: 'x'.repeat(2_000) }), category: 'malformed' },
    { name: 'half a cursor', bytes: frame({ t: 'find', limit: 1, after: Buffer.alloc(31) }), category: 'malformed' },
  ]
  for (const { name, bytes, category } of rows) {
    it(`${name} says so and ends the stream`, () => {
      const wire = open()
      wire.deliver(bytes)
      expect(answersOn(wire)).toMatchObject([{ kind: 'refused', code: 'ERR_PROTOCOL', category }])
    })
  }

  it('any bytes at all has one answer or none, and nothing left', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 5 }), (chunks) => {
        clock.advance(QUESTIONS.windowMs)
        const wire = open()
        for (const chunk of chunks) wire.deliver(chunk)
        wire.end()
        expect(answersOn(wire).length).toBeLessThanOrEqual(1)
        // The sweep alone.
        expect(clock.timers).toBe(1)
      }),
    )
  })

  it('half a question waits for the rest for a while only', () => {
    const wire = open()
    wire.deliver(framed(FIND).subarray(0, 6))
    clock.advance(ASK_MS - 1)
    expect(answersOn(wire)).toEqual([])
    clock.advance(1)
    expect(answersOn(wire)).toMatchObject([{ kind: 'refused', code: 'ERR_TIMEOUT' }])
  })

  it('streams without questions turns their source away, and no other', () => {
    for (let count = 0; count < MAX_ASKING_OF_SOURCE; count += 1) open()
    expect(ask(FIND)).toMatchObject({ kind: 'refused', code: 'ERR_PEER_BUSY' })
    expect(ask(FIND, BOB, '198.51.100.7')).toMatchObject({ kind: 'found' })
    clock.advance(ASK_MS)
    expect(ask(FIND)).toMatchObject({ kind: 'found' })
  })

  it('questions without end turns their source away, says for how long, and no other', () => {
    for (let count = 0; count < QUESTIONS.budget; count += 1) ask(FIND)
    expect(ask(FIND, BOB)).toMatchObject({ kind: 'refused', code: 'ERR_PEER_BUSY', retryAfterMs: QUESTIONS.windowMs })
    expect(ask(FIND, BOB, '198.51.100.7')).toMatchObject({ kind: 'found' })
    clock.advance(QUESTIONS.windowMs)
    expect(ask(FIND)).toMatchObject({ kind: 'found' })
  })

  it('cards without end turns their holder away, from wherever it comes', () => {
    const card = cardOf(ALICE)
    for (let count = 0; count < PUBLISHES.budget; count += 1) ask({ kind: 'publish', card })
    expect(ask({ kind: 'publish', card }, ALICE, '198.51.100.7')).toMatchObject({ code: 'ERR_PEER_BUSY' })
    expect(ask({ kind: 'publish', card: cardOf(BOB) }, BOB)).toMatchObject({ kind: 'published' })
  })
})
