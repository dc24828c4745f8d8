import { createHash } from 'node:crypto'
import { encode } from 'cborg'
import fc from 'fast-check'
import { base32 } from 'multiformats/bases/base32'
import { describe, expect, it } from 'vitest'
import { type Address } from '../../src/channel/address.ts'
import { type BrokerPlace } from '../../src/channel/broker-address.ts'
import { encodeGrant, GRANT } from '../../src/channel/membership/index.ts'
import { formatTicket, parseTicket, type Rendezvous, type Ticket } from '../../src/channel/ticket.ts'
import { seal } from '../../src/core/artefact.ts'
import { isCtError } from '../../src/core/errors.ts'
import { type ChannelId, type HolderId } from '../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { u64 } from '../../src/core/u64.ts'

const HOLDER = 'ab'.repeat(32) as HolderId
const SECRET = new SecretKey(new Uint8Array(32).fill(5))
const OPERATOR = holderKey(new SecretKey(new Uint8Array(32).fill(9)))
const GRANTED = seal(
  GRANT,
  {
    channel: 'c1'.repeat(32) as ChannelId,
    holder: holderKey(SECRET).id,
    direction: 'initiate',
    rights: 'rw',
    delegable: true,
    expiresAt: u64(2_000_000_000),
  },
  OPERATOR.secret,
)
const PEER = `12D3KooW${'a'.repeat(44)}`
const RENDEZVOUS: Rendezvous = {
  broker: [
    { host: 'broker.example.org', port: 4435, transport: 'tcp', peer: PEER },
    { host: '2001:db8::5', port: 443, transport: 'wss' },
  ],
  operator: OPERATOR.id,
  grant: { body: GRANTED.body, signature: GRANTED.signature },
}
/** Nobody can dial it: the broker is the only way. */
const BROKERED: Ticket = { holder: HOLDER, addresses: [], secret: SECRET, rendezvous: RENDEZVOUS }

function plain({ secret, ...rest }: Ticket): unknown {
  return { ...rest, secret: secret === undefined ? undefined : Buffer.from(secret.reveal()).toString('hex') }
}

function sealed(map: unknown): string {
  const bytes = encode(map)
  return `ct1${base32.baseEncode(Buffer.concat([bytes, createHash('sha256').update(bytes).digest().subarray(0, 4)]))}`
}

const hosts = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain())
const addresses: fc.Arbitrary<Address> = fc.record({ host: hosts, port: fc.nat(65_535) })

describe('a ticket with a broker', () => {
  it('round-trips, with and without addresses', () => {
    const hostOfBroker = fc.oneof(fc.ipV4(), fc.constantFrom('2001:db8::5', '::1'), fc.domain())
    const places: fc.Arbitrary<BrokerPlace> = fc.record(
      {
        host: hostOfBroker,
        port: fc.integer({ min: 1, max: 65_535 }),
        transport: fc.constantFrom('tcp', 'ws', 'wss'),
        peer: fc.constant(PEER),
      },
      { requiredKeys: ['host', 'port', 'transport'] },
    )
    const tickets = fc.record({
      addresses: fc.array(addresses, { maxLength: 4 }),
      broker: fc.array(places, { minLength: 1, maxLength: 4 }),
    })
    fc.assert(
      fc.property(tickets, ({ broker, ...where }) => {
        const ticket = { ...BROKERED, ...where, rendezvous: { ...RENDEZVOUS, broker } }
        expect(plain(parseTicket(formatTicket(ticket)))).toEqual(plain(ticket))
      }),
    )
  })

  it('leaves addresses out, then ways to the broker, until it fits', () => {
    const name = [...Array(4).fill('x'.repeat(60)), 'example'].join('.')
    const [address, way] = [
      { host: name, port: 1 },
      { host: name, port: 1, transport: 'wss', peer: PEER },
    ] as const
    const fits = (addressCount: number, ways: number): readonly [number, number] => {
      const rendezvous = { ...RENDEZVOUS, broker: Array.from({ length: ways }, () => way) }
      const text = formatTicket({
        ...BROKERED,
        addresses: Array.from({ length: addressCount }, () => address),
        rendezvous,
      })
      expect(text.length).toBeLessThanOrEqual(4_096)
      const read = parseTicket(text)
      return [read.addresses.length, read.rendezvous?.broker.length ?? 0]
    }
    const [addressesKept, waysKept] = fits(16, 2)
    expect(waysKept).toBe(2)
    expect(addressesKept).toBeGreaterThan(2)
    expect(addressesKept).toBeLessThan(16)
    const [none, most] = fits(3, 20)
    expect(none).toBe(0)
    expect(most).toBeGreaterThan(3)
    expect(most).toBeLessThan(8)
  })

  it('is not made without a broker or without a secret', () => {
    const { secret: _, ...open } = BROKERED
    const nowhere = { ...RENDEZVOUS, broker: [] }
    expect(() => formatTicket({ ...BROKERED, rendezvous: nowhere })).toThrow(RangeError)
    expect(() => formatTicket({ ...BROKERED, addresses: [{ host: 'a', port: 1 }], rendezvous: nowhere })).toThrow(
      RangeError,
    )
    expect(() => formatTicket(open)).toThrow(RangeError)
  })

  it('is read with line breaks in it', () => {
    const text = (formatTicket(BROKERED).match(/.{1,64}/g) ?? []).join('\n')
    expect(plain(parseTicket(text))).toEqual(plain(BROKERED))
  })

  const key = new Uint8Array(32)
  const a = ['192.0.2.7:1']
  const met = { h: key, s: key, b: ['b.example:1'], o: key, g: encodeGrant(GRANTED) }
  const unmet: readonly { name: string; map: object; problem: string }[] = [
    { name: 'no address and half a broker', map: { h: key, s: key, b: met.b }, problem: 'expected a grant' },
    { name: 'a broker without a secret', map: { ...met, s: undefined }, problem: 'a secret of 32 bytes' },
    { name: 'a broker without an operator', map: { ...met, o: undefined }, problem: 'the key of an operator' },
    { name: 'an operator and a grant without a broker', map: { ...met, b: undefined }, problem: '1 to 8 ways' },
    { name: 'an operator alone', map: { h: key, a, s: key, o: key }, problem: 'expected a grant' },
    { name: 'a grant that is text', map: { ...met, g: 'x' }, problem: 'expected a grant' },
    { name: 'a grant cut short', map: { ...met, g: met.g.subarray(1) }, problem: 'expected 139 bytes' },
    {
      name: 'a grant of no direction',
      map: { ...met, g: met.g.map((byte, at) => (at === 128 ? 9 : byte)) },
      problem: 'direction',
    },
    { name: 'no way to the broker', map: { ...met, b: [] }, problem: '1 to 8 ways' },
    { name: '9 ways to the broker', map: { ...met, b: Array(9).fill('b:1') }, problem: '1 to 8 ways' },
    { name: 'a way that is a number', map: { ...met, b: [7] }, problem: 'expected text' },
    {
      name: 'a way without a port',
      map: { ...met, b: ['b.example'] },
      problem: 'a way to a broker in it is malformed',
    },
    { name: '17 addresses beside a broker', map: { ...met, a: Array(17).fill('a:1') }, problem: '0 to 16 addresses' },
    { name: 'addresses that are no list beside a broker', map: { ...met, a: 'none' }, problem: '0 to 16 addresses' },
  ]
  for (const { name, map, problem } of unmet) {
    it(`is refused with ${name}`, () => {
      const present = Object.fromEntries(Object.entries(map).filter(([, value]) => value !== undefined))
      const error = expect.objectContaining({ code: 'ERR_TICKET_INVALID', message: expect.stringContaining(problem) })
      expect(() => parseTicket(sealed({ a: [], ...present }))).toThrow(error)
    })
  }

  it('is refused with any bit changed', () => {
    const text = formatTicket(BROKERED)
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz234567'), (at, other) => {
        fc.pre(text[at] !== other)
        expect(() => parseTicket(text.slice(0, at) + other + text.slice(at + 1))).toThrow(
          expect.objectContaining({ code: 'ERR_TICKET_INVALID' }),
        )
      }),
    )
  })

  it('is a ticket or ERR_TICKET_INVALID whatever its fields are', () => {
    const values = fc.oneof(
      fc.anything({ maxDepth: 1, withNullPrototype: false }),
      fc.constantFrom<unknown>(key, a, [], met.g, met.b),
      fc.uint8Array({ minLength: 139, maxLength: 139 }),
      fc.array(fc.string(), { maxLength: 9 }),
    )
    const maps = fc.dictionary(fc.constantFrom('h', 'a', 's', 'b', 'o', 'g'), values, { maxKeys: 6 })
    let read = 0
    fc.assert(
      fc.property(maps, (map) => {
        let text: string
        try {
          text = sealed({ ...met, a: [], ...map })
        } catch {
          return
        }
        try {
          const { addresses: found, rendezvous } = parseTicket(text)
          read += 1
          expect(found.length + (rendezvous?.broker.length ?? 0)).toBeGreaterThan(0)
        } catch (error) {
          expect(isCtError(error, 'ERR_TICKET_INVALID')).toBe(true)
        }
      }),
      { numRuns: 1_000 },
    )
    expect(read).toBeGreaterThan(0)
  })
})
