/**
 * What holds of every artefact that an operator signs and that has a binary form, and values to show it with.
 *
 * @module
 */
import { createPublicKey, verify } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type ArtefactKind, open as openWith, type Sealed, seal, type Verified } from '../../../src/core/artefact.ts'
import { toHex } from '../../../src/core/bytes.ts'
import { isCtError } from '../../../src/core/errors.ts'
import { type ChannelId, type HolderId, type Signature } from '../../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { type UnixSeconds, u64 } from '../../../src/core/u64.ts'
import { openBitFlips } from '../../core/bit-flips.ts'

export const hex = (text: string): Uint8Array => new Uint8Array(Buffer.from(text, 'hex'))
export const secretOf = (text: string): SecretKey => new SecretKey(hex(text))

export const OPERATOR = holderKey(secretOf('01'.repeat(32)))

/** Ids of two values each, so that equal bodies are frequent and so are those that differ in one field. */
export const idOf = <Id extends ChannelId | HolderId>(): fc.Arbitrary<Id> =>
  fc.constantFrom('ab'.repeat(32) as Id, '61'.repeat(32) as Id)

export const times: fc.Arbitrary<UnixSeconds> = fc
  .oneof(fc.constantFrom(0n, 1n, 10n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n), fc.bigInt(0n, 2n ** 64n - 1n))
  .map(u64)

const signatures = fc
  .uint8Array({ minLength: 64, maxLength: 64 })
  .map((bytes) => Buffer.from(bytes).toString('hex') as Signature)

export interface WireForm<Body> {
  readonly kind: ArtefactKind<Body>
  readonly length: number
  readonly bodies: fc.Arbitrary<Body>
  readonly sample: Body
  /** When the sample holds. */
  readonly now: UnixSeconds
  readonly encode: (sealed: Sealed<Body>) => Uint8Array
  readonly decode: (bytes: Uint8Array) => Sealed<Body>
  /** Opens at that time as something of {@link OPERATOR}. */
  readonly open: (sealed: Sealed<Body>) => Verified<Body>
}

/** Registers the tests. */
export function itIsSafeOnTheWire<Body>({
  kind,
  length,
  bodies,
  sample,
  now,
  encode,
  decode,
  open,
}: WireForm<Body>): void {
  it(`takes ${length} bytes, which give back the same artefact`, () => {
    fc.assert(
      fc.property(bodies, signatures, (body, signature) => {
        const wire = encode({ body, signature })
        expect(wire).toHaveLength(length)
        expect(decode(wire)).toEqual({ body, signature })
      }),
    )
  })

  it('is read the same from the middle of a larger buffer', () => {
    const wire = encode(seal(kind, sample, OPERATOR.secret))
    const larger = Buffer.concat([Buffer.alloc(5, 0xff), wire, Buffer.alloc(5, 0xff)])
    expect(decode(larger.subarray(5, 5 + length))).toEqual(decode(wire))
  })

  it('signs different bytes for different bodies, and only then', () => {
    fc.assert(
      fc.property(bodies, bodies, (one, other) => {
        const same = toHex(kind.preimage(one, kind.domain)) === toHex(kind.preimage(other, kind.domain))
        expect(same).toBe(fieldsOf(one) === fieldsOf(other))
      }),
      { numRuns: 1_000 },
    )
  })

  it('is refused with any one bit changed', () => {
    const wire = encode(seal(kind, sample, OPERATOR.secret))
    const outcome = openBitFlips(wire, (bytes) =>
      fieldsOf(openWith(kind, decode(bytes), { signer: OPERATOR.id, now, verifier: opensslVerifies })),
    )
    expect(Object.keys(outcome)).toContain('ERR_SIGNATURE_INVALID')
    expect(outcome).not.toHaveProperty('same')
  })

  it('is refused by its own function with any one byte changed', () => {
    const wire = encode(seal(kind, sample, OPERATOR.secret))
    open(decode(wire))
    for (let at = 0; at < length; at += 1) {
      const changed = Uint8Array.from(wire)
      changed[at] = (changed[at] ?? 0) ^ (1 << (at & 7))
      expect(() => open(decode(changed))).toThrow(expect.objectContaining({ code: expect.stringMatching(REFUSED) }))
    }
  })

  it('is refused as malformed with any other length', () => {
    for (let other = 0; other <= 2 * length; other += 1) {
      if (other === length) continue
      expect(() => decode(new Uint8Array(other).fill(1))).toThrow(
        expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }),
      )
    }
  })

  it('meets any bytes with an error of ours', () => {
    const anyBytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.uint8Array({ minLength: length, maxLength: length }),
    )
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        try {
          open(decode(bytes))
        } catch (error) {
          if (isCtError(error, 'ERR_ARTEFACT_INVALID', 'ERR_SIGNATURE_INVALID')) return
          throw error
        }
        throw new Error('expected a refusal')
      }),
    )
  })
}

const REFUSED = /^ERR_(ARTEFACT|SIGNATURE)_INVALID$/

/** As the verification of the program, with another library and in a tenth of the time. */
export function opensslVerifies(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  try {
    const key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, publicKey]), format: 'der', type: 'spki' })
    return verify(null, message, key, signature)
  } catch {
    return false
  }
}

/** DER header of Ed25519 public keys (RFC 8410). */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

function fieldsOf(value: unknown): string {
  return JSON.stringify(value, (_key, member: unknown) => (typeof member === 'bigint' ? `${member}n` : member))
}
