import { createHash, createHmac } from 'node:crypto'
import { inspect } from 'node:util'
import { encode } from 'cborg'
import fc from 'fast-check'
import { base32 } from 'multiformats/bases/base32'
import { describe, expect, it } from 'vitest'
import { type Address } from '../../src/channel/address.ts'
import { formatTicket, parseTicket, type Ticket, ticketProof } from '../../src/channel/ticket.ts'
import { isCtError } from '../../src/core/errors.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { SecretKey } from '../../src/core/keys.ts'

const HOLDER = 'ab'.repeat(32) as HolderId
const OTHER = 'cd'.repeat(32) as HolderId
const SECRET_HEX = Array.from({ length: 32 }, (_, index) => (0xa0 + index).toString(16)).join('')
const SECRET = new SecretKey(Buffer.from(SECRET_HEX, 'hex'))
const TICKET: Ticket = {
  holder: HOLDER,
  addresses: [
    { host: '192.0.2.7', port: 4433 },
    { host: '2001:db8::1', port: 1 },
    { host: 'agent.example.org', port: 65_535 },
  ],
  secret: SECRET,
}
const TEXT = formatTicket(TICKET)
const invalid = expect.objectContaining({ code: 'ERR_TICKET_INVALID' })

function plain({ holder, addresses, secret }: Ticket): unknown {
  return { holder, addresses, secret: secret === undefined ? undefined : Buffer.from(secret.reveal()).toString('hex') }
}

function sealed(map: unknown): string {
  const bytes = encode(map)
  return `ct1${base32.baseEncode(Buffer.concat([bytes, createHash('sha256').update(bytes).digest().subarray(0, 4)]))}`
}

const hosts = fc.oneof(fc.ipV4(), fc.ipV6(), fc.domain())
const addresses: fc.Arbitrary<Address> = fc.record({ host: hosts, port: fc.nat(65_535) })

describe('formatTicket and parseTicket', () => {
  it('round-trip', () => {
    const tickets = fc.record({
      holder: fc
        .uint8Array({ minLength: 32, maxLength: 32 })
        .map((bytes) => Buffer.from(bytes).toString('hex') as HolderId),
      addresses: fc.array(addresses, { minLength: 1, maxLength: 8 }),
      secret: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new SecretKey(bytes)),
    })
    fc.assert(
      fc.property(tickets, fc.boolean(), ({ secret, ...open }, withSecret) => {
        const ticket = withSecret ? { ...open, secret } : open
        expect(plain(parseTicket(formatTicket(ticket)))).toEqual(plain(ticket))
      }),
    )
  })

  it('give a text of lower-case letters and digits that any shell leaves alone', () => {
    expect(TEXT).toMatch(/^ct1[a-z2-7]+$/)
  })

  it('keep the best addresses when not all fit', () => {
    const long = Array.from({ length: 20 }, (_, port) => ({
      host: [...Array(4).fill('x'.repeat(60)), 'example'].join('.'),
      port,
    }))
    const text = formatTicket({ holder: HOLDER, addresses: long, secret: SECRET })
    const { addresses: kept } = parseTicket(text)
    expect(kept.length).toBeGreaterThan(5)
    expect(kept).toEqual(long.slice(0, kept.length))
  })

  it('do not make a ticket that leads nowhere', () => {
    expect(() => formatTicket({ holder: HOLDER, addresses: [] })).toThrow(RangeError)
  })

  const pasted: readonly { name: string; text: string }[] = [
    { name: 'in upper case', text: TEXT.toUpperCase() },
    { name: 'with line breaks of a mail', text: (TEXT.match(/.{1,20}/g) ?? []).join('\r\n  ') },
    { name: 'with blanks around', text: `\n\t ${TEXT} \n` },
    { name: 'with a non-breaking blank', text: `${TEXT.slice(0, 9)}\u00a0${TEXT.slice(9)}` },
  ]
  for (const { name, text } of pasted) {
    it(`read a ticket ${name}`, () => expect(plain(parseTicket(text))).toEqual(plain(TICKET)))
  }

  it('refuse any one character changed', () => {
    for (let at = 0; at < TEXT.length; at += 1) {
      for (const other of 'abcdefghijklmnopqrstuvwxyz0123456789=-') {
        if (other === TEXT[at]) continue
        const changed = `${TEXT.slice(0, at)}${other}${TEXT.slice(at + 1)}`
        expect(() => parseTicket(changed), changed).toThrow(invalid)
      }
    }
  })

  it('refuse any one character left out, doubled or swapped with the next', () => {
    for (let at = 0; at < TEXT.length; at += 1) {
      const [here = '', next = ''] = [TEXT[at], TEXT[at + 1]]
      expect(() => parseTicket(TEXT.slice(0, at) + TEXT.slice(at + 1))).toThrow(invalid)
      expect(() => parseTicket(TEXT.slice(0, at) + here + TEXT.slice(at))).toThrow(invalid)
      if (here !== next && next !== '')
        expect(() => parseTicket(TEXT.slice(0, at) + next + here + TEXT.slice(at + 2))).toThrow(invalid)
    }
  })

  it('refuse every beginning of a ticket', () => {
    for (let end = 0; end < TEXT.length; end += 1) expect(() => parseTicket(TEXT.slice(0, end))).toThrow(invalid)
  })

  const key = new Uint8Array(32)
  const a = ['192.0.2.7:1']
  const refusals: readonly { name: string; text: string; problem: string }[] = [
    { name: 'nothing', text: '', problem: 'begins with ct1' },
    { name: 'another form', text: `ct2${TEXT.slice(3)}`, problem: 'a ticket of form ct2' },
    { name: 'a name', text: 'alice', problem: 'begins with ct1' },
    { name: 'a megabyte of letters', text: `ct1${'a'.repeat(1_000_000)}`, problem: 'at most 4096' },
    { name: 'letters that are not of the alphabet', text: `ct1${'é'.repeat(60)}`, problem: 'letters a to z' },
    { name: 'a list', text: sealed([1]), problem: 'cannot be read' },
    { name: 'no key', text: sealed({ a }), problem: 'a key of 32 bytes' },
    { name: 'a short key', text: sealed({ h: new Uint8Array(31), a }), problem: 'a key of 32 bytes' },
    { name: 'a short secret', text: sealed({ h: key, a, s: new Uint8Array(31) }), problem: 'a secret of 32 bytes' },
    { name: 'a secret that is text', text: sealed({ h: key, a, s: 'x'.repeat(32) }), problem: 'a secret of 32 bytes' },
    { name: 'no addresses', text: sealed({ h: key }), problem: '1 to 16 addresses' },
    { name: 'an empty list of addresses', text: sealed({ h: key, a: [] }), problem: '1 to 16 addresses' },
    { name: '17 addresses', text: sealed({ h: key, a: Array(17).fill('a:1') }), problem: '1 to 16 addresses' },
    { name: 'an address that is no text', text: sealed({ h: key, a: [5] }), problem: 'expected text' },
    { name: 'an address with a zone', text: sealed({ h: key, a: ['[fe80::1%0]:1'] }), problem: 'without a zone' },
  ]
  for (const { name, text, problem } of refusals) {
    it(`refuse ${name}`, () => {
      const error = expect.objectContaining({ code: 'ERR_TICKET_INVALID', message: expect.stringContaining(problem) })
      expect(() => parseTicket(text)).toThrow(error)
    })
  }

  it('ignore keys they do not know', () => {
    expect(parseTicket(sealed({ h: key, a, z: { later: true } })).addresses).toEqual([{ host: '192.0.2.7', port: 1 }])
  })

  it('make a ticket or ERR_TICKET_INVALID of any text, and never show a secret', () => {
    const near = fc
      .tuple(fc.nat(TEXT.length), fc.string({ unit: 'binary', maxLength: 5 }))
      .map(([at, noise]) => TEXT.slice(0, at) + noise + TEXT.slice(at + noise.length))
    const maps = fc
      .dictionary(fc.constantFrom('h', 'a', 's', 'z'), fc.anything({ maxDepth: 1, withNullPrototype: false }))
      .map((map) => safely(() => sealed(map)))
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), near, maps), (text) => {
        try {
          parseTicket(text)
        } catch (error) {
          expect(isCtError(error, 'ERR_TICKET_INVALID')).toBe(true)
          expect(inspect(error, { depth: 9 })).not.toContain(TEXT.slice(20, 40))
        }
      }),
      { numRuns: 500 },
    )
  })

  it('keep the secret out of every print of a ticket and of its errors', () => {
    const shown = [inspect(parseTicket(TEXT), { depth: 9, showHidden: true }), JSON.stringify(parseTicket(TEXT))]
    const secret = Buffer.from(SECRET_HEX, 'hex')
    const broken = sealed({ h: key, a: ['x'], s: secret })
    try {
      parseTicket(broken)
    } catch (error) {
      shown.push(inspect(error, { depth: 9, showHidden: true }))
    }
    expect(shown).toHaveLength(3)
    for (const text of shown) expect(text.toLowerCase()).not.toMatch(/a0a1a2|a0 a1|160, ?161/)
  })
})

describe('ticketProof', () => {
  it('is the HMAC-SHA-256 of both keys', () => {
    const expected = createHmac('sha256', Buffer.from(SECRET_HEX, 'hex')).update(
      `ct-agent-ticket-proof-v1|${HOLDER}|${OTHER}`,
    )
    expect(Buffer.from(ticketProof(SECRET, HOLDER, OTHER))).toEqual(expected.digest())
  })

  it('is another one for the keys swapped, another key and another secret', () => {
    const proofs = [
      ticketProof(SECRET, HOLDER, OTHER),
      ticketProof(SECRET, OTHER, HOLDER),
      ticketProof(SECRET, HOLDER, HOLDER),
      ticketProof(SecretKey.generate(), HOLDER, OTHER),
    ]
    expect(new Set(proofs.map((proof) => Buffer.from(proof).toString('hex'))).size).toBe(proofs.length)
  })
})

function safely(run: () => string): string {
  try {
    return run()
  } catch {
    return ''
  }
}
