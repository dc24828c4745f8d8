/**
 * What holds of every signed artefact, as tests, and what the tests of offers sign with.
 *
 * @module
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ArtefactKind, type Sealed } from '../../src/core/artefact.ts'
import { fromHex, toHex } from '../../src/core/bytes.ts'
import { type ExactObject, writeExactJson } from '../../src/core/exact-json.ts'
import { type HolderKey, holderKey, SecretKey, sha256 } from '../../src/core/keys.ts'
import { neighbours, signatures } from './arbitraries.ts'

export function bytesOf(hex: string): Uint8Array {
  const bytes = fromHex(hex)
  if ('problem' in bytes) throw new RangeError(bytes.problem)
  return bytes
}

/** The key whose seed is this hex, or this one byte 32 times. */
export function keyOf(seed: string | number): HolderKey {
  return holderKey(new SecretKey(typeof seed === 'number' ? new Uint8Array(32).fill(seed) : bytesOf(seed)))
}

export const seller = keyOf(0x51)
export const buyer = keyOf(0x52)
export const stranger = keyOf(0x53)

interface SignedArtefact<Body, Value = Sealed<Body>> {
  readonly kind: ArtefactKind<Body>
  readonly wide: fc.Arbitrary<Body>
  readonly narrow: fc.Arbitrary<Body>
  readonly parse: (json: string) => Value
  readonly write: (value: Value) => ExactObject
  readonly wrap: (body: Body, signature: string) => Value
}

/** Adds the tests to the suite that is being described. */
export function itIsEncodedOnce<Body extends object, Value>(artefact: SignedArtefact<Body, Value>): void {
  const { kind, wide, narrow, parse, write, wrap } = artefact

  it('comes back from JSON as it went in', () => {
    fc.assert(
      fc.property(wide, signatures, (body, signature) => {
        const value = wrap(body, signature)
        expect(parse(writeExactJson(write(value)))).toEqual(value)
      }),
    )
  })

  for (const [name, bodies] of Object.entries({ wide, narrow })) {
    it(`gives different bytes to different bodies and the same to the same, drawn ${name}`, () => {
      let same = 0
      fc.assert(
        fc.property(neighbours(bodies), ([left, right]) => {
          const alike = textOf(left) === textOf(right)
          if (alike) same += 1
          expect(preimageOf(left) === preimageOf(right)).toBe(alike)
        }),
        { numRuns: 1_000 },
      )
      expect(same).toBeGreaterThan(0)
    })
  }

  it('gives different bytes to any two of many bodies', () => {
    const bodies = fc.sample(narrow, 5_000)
    const texts = new Set(bodies.map(textOf))
    expect(new Set(bodies.map(preimageOf)).size).toBe(texts.size)
  })

  function textOf(body: Body): string {
    return writeExactJson(write(wrap(body, '00'.repeat(64))))
  }

  function preimageOf(body: Body): string {
    return toHex(sha256(kind.preimage(body, kind.domain)))
  }
}
