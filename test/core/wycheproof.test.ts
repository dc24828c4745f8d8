/**
 * Ed25519 against published edge cases.
 *
 * `ed25519-wycheproof.json` holds the cases of `ed25519_test.json` of Project Wycheproof, as the crate wycheproof 0.6.0
 * ships them, under the Apache License 2.0; members that no test reads are left out.
 * `ed25519-edge-cases.json` holds the twelve cases of Chalkias, Garillot and Nikolaenko, "Taming the many EdDSAs" (2020),
 * as published with the paper under the Apache License 2.0, with names of our own.
 *
 * @module
 */
import * as ed from '@noble/ed25519'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../../src/core/bytes.ts'
import { isStrictPublicKey, verify, verifyExactly, verifyMany } from '../../src/core/keys.ts'
import edges from '../vectors/ed25519-edge-cases.json' with { type: 'json' }
import wycheproof from '../vectors/ed25519-wycheproof.json' with { type: 'json' }

interface Case {
  readonly signature: Uint8Array
  readonly message: Uint8Array
  readonly key: Uint8Array
}

const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))

const published = wycheproof.groups.flatMap(({ key, tests }) =>
  tests.map(({ tcId, comment, flags, msg, sig, result }) => ({
    name: `case ${tcId} (${[comment, ...flags].filter((part) => part !== '').join(', ')})`,
    valid: result === 'valid',
    item: { signature: hex(sig), message: hex(msg), key: hex(key) },
  })),
)

/** What both verifiers say; they must not differ, and the exact one must accept nothing else. */
function verdict({ signature, message, key }: Case): boolean {
  const one = verify(signature, message, key)
  expect(verifyMany(signature, message, key)).toBe(one)
  expect([one, false]).toContain(verifyExactly(signature, message, key))
  return one
}

/** S + L in the place of S: the same number to whoever does not check its range. */
function raised(signature: Uint8Array): Uint8Array | undefined {
  const s = BigInt(`0x${toHex(signature.slice(32).reverse())}`) + ed.Point.CURVE().n
  const digits = s.toString(16).padStart(64, '0')
  return digits.length > 64 ? undefined : Uint8Array.of(...signature.slice(0, 32), ...hex(digits).reverse())
}

describe('verify and verifyMany, on the vectors of Wycheproof', () => {
  it('are tried with all of them', () => {
    expect(published).toHaveLength(wycheproof.numberOfTests)
    expect(published.filter(({ valid }) => valid)).toHaveLength(88)
  })

  for (const { name, valid, item } of published) {
    it(`${valid ? 'accept' : 'refuse'} ${name}`, () => expect(verdict(item)).toBe(valid))
  }

  it('refuse valid ones whose S was raised by the order of the group', () => {
    const valid = published.filter((vector) => vector.valid)
    const changed = valid.flatMap(({ item }) => {
      const signature = raised(item.signature)
      return signature === undefined ? [] : [{ ...item, signature }]
    })
    expect(changed).toHaveLength(valid.length)
    // The equation holds all the same: it is the range that refuses them.
    for (const item of changed) expect(verdict(item)).toBe(false)
  })

  it('refuse valid ones, and agree on all, with any byte of signature, key or message changed', () => {
    const changes = fc.record({
      vector: fc.constantFrom(...published),
      place: fc.nat(),
      change: fc.integer({ min: 1, max: 255 }),
    })
    fc.assert(
      fc.property(changes, ({ vector: { item, valid }, place, change }) => {
        const parts = [item.signature.slice(), item.key.slice(), item.message.slice()] as const
        let at = place % (parts[0].length + parts[1].length + parts[2].length)
        for (const part of parts) {
          if (at >= 0 && at < part.length) part[at] = (part[at] ?? 0) ^ change
          at -= part.length
        }
        const [signature, key, message] = parts
        const accepted = verdict({ signature, key, message })
        if (valid) expect(accepted).toBe(false)
      }),
      { numRuns: 400, interruptAfterTimeLimit: 5_000 },
    )
  })
})

/** What the paper says of a verifier that refuses keys of small order and multiplies by the factor 8. */
const EDGE_CASES_ACCEPTED = [2, 3, 4, 5]

describe('verifyExactly', () => {
  it('accepts every valid signature of Wycheproof', () => {
    for (const { valid, item, name } of published) {
      expect(verifyExactly(item.signature, item.message, item.key), name).toBe(valid)
    }
  })

  it('refuses what holds with the factor 8 alone, and accepts what holds without it as well', () => {
    const says = edges.cases.map(({ message, key, signature }) => verifyExactly(hex(signature), hex(message), hex(key)))
    expect([says[3], says[4], says[5]]).toEqual([true, false, false])
  })
})

describe('verify and verifyMany, on the edge cases of "Taming the many EdDSAs"', () => {
  for (const { number, name, message, key, signature } of edges.cases) {
    const valid = EDGE_CASES_ACCEPTED.includes(number)
    it(`${valid ? 'accept' : 'refuse'} case ${number}: ${name}`, () => {
      expect(verdict({ message: hex(message), key: hex(key), signature: hex(signature) })).toBe(valid)
    })
  }
})

const ENDS = 'ff'.repeat(30)
const smallOrder: readonly { name: string; key: string }[] = [
  { name: 'of order 1', key: `01${'00'.repeat(31)}` },
  { name: 'of order 2', key: `ec${ENDS}7f` },
  { name: 'of order 4', key: '00'.repeat(32) },
  { name: 'of order 4, with the other x', key: `${'00'.repeat(31)}80` },
  { name: 'of order 8', key: '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05' },
  { name: 'of order 8, with the other x', key: '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85' },
  { name: 'of order 8, with the other y', key: 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a' },
  { name: 'of order 8, with other x and y', key: 'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa' },
  { name: 'of order 1, with a sign where x is 0', key: `01${'00'.repeat(30)}80` },
  { name: 'of order 2, with a sign where x is 0', key: `ec${ENDS}ff` },
  { name: 'of order 4, written as y = p', key: `ed${ENDS}7f` },
  { name: 'of order 4, written as y = p, with the other x', key: `ed${ENDS}ff` },
  { name: 'of order 1, written as y = p + 1', key: `ee${ENDS}7f` },
  { name: 'of order 1, written as y = p + 1, with a sign', key: `ee${ENDS}ff` },
]

/** R = B and S = 1: the equation holds for any key A and message with [h]A = 0, and nobody had to know a secret. */
const ANYBODYS = hex(`58${'66'.repeat(31)}01${'00'.repeat(31)}`)

/** A message of which the lenient equation accepts that signature. */
function forgedMessage(key: Uint8Array): Uint8Array {
  for (let attempt = 0; attempt < 1_000; attempt += 1) {
    const message = Buffer.from(`message ${attempt}`)
    if (ed.verify(ANYBODYS, message, key, { zip215: true })) return message
  }
  throw new Error('expected a message that the lenient equation accepts')
}

describe('verify and verifyMany, on keys of small order', () => {
  for (const { name, key } of smallOrder) {
    it(`refuse what anybody can sign for a key ${name}`, () => {
      expect(isStrictPublicKey(hex(key))).toBe(false)
      expect(verdict({ signature: ANYBODYS, message: forgedMessage(hex(key)), key: hex(key) })).toBe(false)
    })
  }

  it('refuse R of small order where S is 0', () => {
    for (const { key } of smallOrder) {
      const signature = Uint8Array.of(...hex(key), ...new Uint8Array(32))
      for (const { key: other } of smallOrder) {
        expect(verdict({ signature, message: hex('00'), key: hex(other) })).toBe(false)
      }
    }
  })
})

describe('isStrictPublicKey', () => {
  /** The same by decoding; undefined for what is no point. */
  function byDecoding(key: Uint8Array): boolean | undefined {
    try {
      ed.Point.fromBytes(key, true)
    } catch {
      return undefined
    }
    try {
      return !ed.Point.fromBytes(key, false).isSmallOrder()
    } catch {
      return false
    }
  }

  it('is what decoding the point tells, for every y at the ends of the range', () => {
    const counted = { strict: 0, refused: 0 }
    for (let low = 0; low <= 0xff; low += 1) {
      for (const rest of ['00'.repeat(31), `${'00'.repeat(30)}80`, `${ENDS}7f`, `${ENDS}ff`]) {
        const key = hex(toHex(Uint8Array.of(low)) + rest)
        const expected = byDecoding(key)
        if (expected === undefined) continue
        counted[expected ? 'strict' : 'refused'] += 1
        expect([toHex(key), isStrictPublicKey(key)]).toEqual([toHex(key), expected])
      }
    }
    expect(counted.strict).toBeGreaterThan(200)
    expect(counted.refused).toBeGreaterThanOrEqual(10)
  })

  it('is true for what honest members have, and never for another number of bytes', () => {
    for (const { item } of published) expect(isStrictPublicKey(item.key)).toBe(true)
    for (const length of [0, 31, 33, 64]) expect(isStrictPublicKey(new Uint8Array(length).fill(7))).toBe(false)
  })
})
