import { encode } from 'cborg'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type Bye,
  encodeBye,
  encodeHello,
  type Hello,
  MAX_HELLO_BYTES,
  parseBye,
  parseHello,
} from '../../src/channel/session/hello.ts'
import { ERROR_CODES, isCtError } from '../../src/core/errors.ts'
import { type InstanceId } from '../../src/core/ids.ts'
import { holderKey, noiseKey, SecretKey } from '../../src/core/keys.ts'
import { isPeerErrorCode } from '../../src/core/peer-codes.ts'
import { ALICE, BOB, chainOf, credentialsOf } from './test-channel.ts'

const RUN = '0f'.repeat(16) as InstanceId
const HELLO: Hello = {
  version: 1,
  mode: 'call',
  run: RUN,
  limits: { messageBytes: 8_388_608, inFlight: 0, idleSeconds: 300 },
  agent: 'ct-agent/1',
}
const RAW = {
  v: 1,
  mode: 'call',
  run: Buffer.from(RUN, 'hex'),
  agent: 'a',
  limits: { message: 1, inFlight: 0, idle: 0 },
}
const KEYS = { holder: holderKey(SecretKey.generate()), noise: noiseKey(SecretKey.generate()) }
const CREDENTIALS = [
  chainOf({ holder: KEYS.holder }),
  chainOf({ holder: ALICE }, { holder: BOB }, { holder: KEYS.holder, rights: 'r', direction: 'accept' }),
].map((grants) => credentialsOf(KEYS, grants))
const protocolError = expect.objectContaining({ code: 'ERR_PROTOCOL' })
const counts = fc.maxSafeNat()

describe('hello', () => {
  it('round-trips', () => {
    const hellos = fc.record(
      {
        version: fc.constant(1),
        mode: fc.constantFrom('serve', 'call', 'pipe'),
        run: fc.constant(RUN),
        limits: fc.record({
          messageBytes: counts.map((count) => Math.max(1, count)),
          inFlight: counts,
          idleSeconds: counts,
        }),
        agent: fc.stringMatching(/^[a-z/.0-9-]{0,100}$/),
        calls: fc.constantFrom('fresh', 'resumed'),
        proof: fc.uint8Array({ minLength: 32, maxLength: 32 }),
        credentials: fc.constantFrom(...CREDENTIALS),
      },
      { requiredKeys: ['version', 'mode', 'run', 'limits', 'agent'] },
    )
    fc.assert(
      fc.property(hellos, (hello) => {
        expect(parseHello(encodeHello(hello as Hello))).toEqual(hello)
      }),
    )
  })

  it('ignores keys it does not know, whatever they hold', () => {
    const grown = new Map<unknown, unknown>([...Object.entries(RAW), ['grant', { deep: [1] }], [5, 'five'], ['', null]])
    expect(parseHello(encode(grown))).toMatchObject({ mode: 'call', agent: 'a' })
  })

  it('takes nothing from a key named __proto__, and touches no prototype', () => {
    const hostile = new Map<unknown, unknown>([...Object.entries(RAW), ['__proto__', { polluted: true }]])
    hostile.set('limits', new Map<string, unknown>([['__proto__', RAW.limits]]))
    expect(() => parseHello(encode(hostile))).toThrow(protocolError)
    expect('polluted' in {}).toBe(false)
  })

  it('takes an agent that is no text as unknown, and strips and cuts one that is', () => {
    expect(parseHello(encode({ ...RAW, agent: 5 })).agent).toBe('unknown')
    expect(parseHello(encode({ ...RAW, agent: `a\u001b[2J\u202e\u2028\n${'x'.repeat(300)}` })).agent).toBe(
      `a [2J ${'x'.repeat(91)}…`,
    )
  })

  it('takes calls that it does not know as none', () => {
    expect(parseHello(encode({ ...RAW, calls: 'later' })).calls).toBeUndefined()
  })

  const { limits } = RAW
  const refusals: readonly { name: string; value: unknown }[] = [
    { name: 'a list', value: [RAW] },
    { name: 'a number', value: 5 },
    { name: 'null', value: null },
    { name: 'an empty map', value: {} },
    { name: 'a version that is text', value: { ...RAW, v: '1' } },
    { name: 'a version of 64 bits', value: { ...RAW, v: 2n ** 63n } },
    { name: 'an unknown mode', value: { ...RAW, mode: 'relay' } },
    { name: 'a mode of the prototype', value: { ...RAW, mode: 'constructor' } },
    { name: 'a run that is text', value: { ...RAW, run: RUN } },
    { name: 'a run of 15 bytes', value: { ...RAW, run: new Uint8Array(15) } },
    { name: 'a proof of 31 bytes', value: { ...RAW, proof: new Uint8Array(31) } },
    { name: 'a proof that is text', value: { ...RAW, proof: 'x'.repeat(32) } },
    { name: 'no limits', value: { ...RAW, limits: undefined } },
    { name: 'limits that are a list', value: { ...RAW, limits: [1, 0, 0] } },
    { name: 'a message limit of 0', value: { ...RAW, limits: { ...limits, message: 0 } } },
    { name: 'a negative limit', value: { ...RAW, limits: { ...limits, idle: -1 } } },
    { name: 'a limit with a fraction', value: { ...RAW, limits: { ...limits, inFlight: 0.5 } } },
    { name: 'a limit that is not a number', value: { ...RAW, limits: { ...limits, inFlight: Number.NaN } } },
    { name: 'a limit above 2^53', value: { ...RAW, limits: { ...limits, message: 2n ** 60n } } },
  ]
  for (const { name, value } of refusals) {
    it(`refuses ${name}`, () => expect(() => parseHello(encode(value))).toThrow(protocolError))
  }

  const att = new Uint8Array(64)
  const grants = [Uint8Array.from({ length: 139 }, () => 1)]
  const noCredentials: readonly { name: string; value: object }[] = [
    { name: 'grants without an attestation', value: { grants } },
    { name: 'an attestation without grants', value: { att } },
    { name: 'no grant', value: { grants: [], att } },
    { name: 'four grants', value: { grants: [1, 2, 3, 4].map(() => grants[0]), att } },
    { name: 'grants that are one', value: { grants: grants[0], att } },
    { name: 'grants that are a map', value: { grants: { 0: grants[0] }, att } },
    { name: 'a grant that is text', value: { grants: ['x'.repeat(139)], att } },
    { name: 'a grant of 138 bytes', value: { grants: [new Uint8Array(138).fill(1)], att } },
    { name: 'a grant of 140 bytes', value: { grants: [new Uint8Array(140).fill(1)], att } },
    { name: 'a grant of no known rights', value: { grants: [new Uint8Array(139).fill(9)], att } },
    { name: 'an attestation of 63 bytes', value: { grants, att: new Uint8Array(63) } },
    { name: 'an attestation that is text', value: { grants, att: 'x'.repeat(64) } },
    { name: 'a succession of 240 bytes', value: { grants, att, succ: [new Uint8Array(240)] } },
    { name: 'nine successions', value: { grants, att, succ: Array.from({ length: 9 }, () => new Uint8Array(241)) } },
    { name: 'a staple of 143 bytes', value: { grants, att, staple: new Uint8Array(143) } },
    { name: 'a staple that is text', value: { grants, att, staple: 'x'.repeat(144) } },
  ]
  it('reads a grant of which nothing is right but its form', () => {
    expect(parseHello(encode({ ...RAW, grants, att })).credentials?.grants).toHaveLength(1)
  })
  for (const { name, value } of noCredentials) {
    it(`refuses as credentials ${name}`, () => {
      expect(() => parseHello(encode({ ...RAW, ...value }))).toThrow(
        expect.objectContaining({ code: 'ERR_GRANT_INVALID', detail: { category: 'malformed' } }),
      )
    })
  }

  const malformed: readonly { name: string; bytes: Uint8Array }[] = [
    { name: 'nothing', bytes: new Uint8Array(0) },
    { name: 'bytes after the map', bytes: Buffer.concat([encode(RAW), Uint8Array.of(0)]) },
    { name: 'a repeated key', bytes: Buffer.from('a2617601617601', 'hex') },
    { name: 'a map without end', bytes: Buffer.from('bf617601ff', 'hex') },
    { name: 'a map that promises 2^32 entries', bytes: Buffer.from('ba ffffffff 6176 01'.replaceAll(' ', ''), 'hex') },
    { name: 'a text that promises 2^53 bytes', bytes: Buffer.from('a17b001fffffffffffff61', 'hex') },
    { name: 'a tag', bytes: Buffer.from('c1a0', 'hex') },
    { name: 'lists nested as deep as fit', bytes: new Uint8Array(MAX_HELLO_BYTES).fill(0x81) },
    { name: 'maps nested as deep as fit', bytes: new Uint8Array(MAX_HELLO_BYTES).fill(0xa1) },
    { name: 'more bytes than a hello has', bytes: encode({ ...RAW, filler: 'x'.repeat(MAX_HELLO_BYTES) }) },
  ]
  for (const { name, bytes } of malformed) {
    it(`refuses ${name}`, () => expect(() => parseHello(bytes)).toThrow(protocolError))
    it(`refuses as a bye ${name}`, () => {
      expect(() => parseBye(bytes)).toThrow(protocolError)
    })
  }

  for (const v of [0, 2, 1.5, -1, 4_294_967_296]) {
    it(`says that version ${v} is another one`, () => {
      expect(() => parseHello(encode({ v }))).toThrow(expect.objectContaining({ code: 'ERR_VERSION_UNSUPPORTED' }))
    })
  }

  it('of any bytes is a hello or a CtError', () => {
    const near = fc
      .uint8Array({ maxLength: 6 })
      .chain((noise) =>
        fc
          .nat(encodeHello(HELLO).length)
          .map((at) =>
            Buffer.concat([encodeHello(HELLO).subarray(0, at), noise, encodeHello(HELLO).subarray(at + noise.length)]),
          ),
      )
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 200 }), near), (bytes) => {
        expectValueOrCtError(() => parseHello(bytes))
        expectValueOrCtError(() => parseBye(bytes))
      }),
      { numRuns: 500 },
    )
  })
})

describe('bye', () => {
  it('round-trips every code that a peer may give', () => {
    const byes = fc.record(
      {
        code: fc.constantFrom(...Object.keys(ERROR_CODES).filter(isPeerErrorCode)),
        reason: fc.stringMatching(/^[a-z ,:0-9]{0,300}$/),
        final: fc.boolean(),
        retryAfterMs: fc.nat(60_000),
        category: fc.constantFrom('malformed', 'not-member', 'grant-verify', 'possession', 'pairing', 'a-later-one'),
      },
      { requiredKeys: ['code', 'reason', 'final'] },
    )
    fc.assert(
      fc.property(byes, (bye) => {
        expect(parseBye(encodeBye(bye as Bye))).toEqual({ ...bye, reason: bye.reason.trim() })
      }),
    )
  })

  const readings: readonly { name: string; value: unknown; bye: Bye }[] = [
    { name: 'an empty map', value: {}, bye: { code: 'ERR_LINK_CLOSED', reason: 'no reason given', final: false } },
    {
      name: 'an unknown code',
      value: { code: 'ERR_FROM_THE_FUTURE', reason: 'r', final: true, more: 1 },
      bye: { code: 'ERR_LINK_CLOSED', reason: 'r', final: true },
    },
    {
      name: 'a code about our own machine',
      value: { code: 'ERR_CONFIG_INVALID', reason: 'r', final: true },
      bye: { code: 'ERR_LINK_CLOSED', reason: 'r', final: true },
    },
    {
      name: 'a code of the prototype',
      value: { code: '__proto__' },
      bye: { code: 'ERR_LINK_CLOSED', reason: 'no reason given', final: false },
    },
    {
      name: 'a final that is not true',
      value: { final: 1 },
      bye: { code: 'ERR_LINK_CLOSED', reason: 'no reason given', final: false },
    },
    {
      name: 'a retry of a year',
      value: { code: 'ERR_PEER_BUSY', reason: 'r', retry: 31_536_000_000 },
      bye: { code: 'ERR_PEER_BUSY', reason: 'r', final: false, retryAfterMs: 60_000 },
    },
    {
      name: 'a negative retry',
      value: { code: 'ERR_PEER_BUSY', reason: 'r', retry: -5 },
      bye: { code: 'ERR_PEER_BUSY', reason: 'r', final: false },
    },
    ...['Pairing', 'pairing\u001b[2J', '', 'x'.repeat(25), 5, null].map((category) => ({
      name: `the category ${JSON.stringify(category)}`,
      value: { code: 'ERR_GRANT_INVALID', reason: 'r', final: true, category },
      bye: { code: 'ERR_GRANT_INVALID', reason: 'r', final: true } as const,
    })),
  ]
  for (const { name, value, bye } of readings) {
    it(`reads ${name} with care`, () => expect(parseBye(encode(value))).toEqual(bye))
  }

  it('leaves nothing in a reason, sent or received, that could move a cursor, hide text or break a line', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.constantFrom('\u0000', '\u001b', '\u009b', '\u202e', '\u2028', '\u200b', '\ud800', '🦀'),
            fc.string(),
          ),
        ),
        (parts) => {
          const reason = parts.join('')
          const sent = encodeBye({ code: 'ERR_INTERNAL', reason, final: true })
          for (const bytes of [sent, encode({ reason })]) {
            const read = parseBye(bytes).reason
            expect(read).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
            expect(read.length).toBeLessThanOrEqual(300)
          }
        },
      ),
    )
  })
})

function expectValueOrCtError(run: () => unknown): void {
  try {
    expect(run()).toBeTypeOf('object')
  } catch (error) {
    expect(isCtError(error, 'ERR_PROTOCOL', 'ERR_VERSION_UNSUPPORTED')).toBe(true)
  }
}
