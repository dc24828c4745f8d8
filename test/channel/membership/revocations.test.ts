import { createPrivateKey, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeRevocations,
  encodeRevocations,
  MAX_REMOVED,
  MAX_REVOCATION_BYTES,
  openRevocations,
  REVOCATION_LIST,
  type RevocationList,
  sealRevocations,
} from '../../../src/channel/membership/revocations.ts'
import { type Sealed, seal } from '../../../src/core/artefact.ts'
import { toHex } from '../../../src/core/bytes.ts'
import { isCtError } from '../../../src/core/errors.ts'
import { type ChannelId, type HolderId, type Signature } from '../../../src/core/ids.ts'
import { u64 } from '../../../src/core/u64.ts'
import vectors from '../../vectors/revocations.json' with { type: 'json' }
import { hex, OPERATOR, secretOf, times } from './signed-wire.ts'

const CHANNEL = 'ab'.repeat(32) as ChannelId
const holder = (byte: number): HolderId => byte.toString(16).padStart(64, '0') as HolderId
const SAMPLE: RevocationList = {
  channel: CHANNEL,
  sequence: u64(7),
  issuedAt: u64(1_750_000_000),
  removed: [holder(1), holder(2)],
}
const operator = OPERATOR.id
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

function signedByOpenssl(seed: string, preimage: string): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, hex(seed)]), format: 'der', type: 'pkcs8' })
  return sign(null, hex(preimage), key).toString('hex')
}

const bodies: fc.Arbitrary<RevocationList> = fc.record({
  channel: fc.constantFrom(CHANNEL, '61'.repeat(32) as ChannelId),
  sequence: times,
  issuedAt: times,
  removed: fc.uniqueArray(fc.nat(40).map(holder), { maxLength: 6 }).map((ids) => ids.sort()),
})
const signatures = fc
  .uint8Array({ minLength: 64, maxLength: 64 })
  .map((bytes) => Buffer.from(bytes).toString('hex') as Signature)

describe('a revocation list', () => {
  for (const { name, operatorSeed, preimage, wire, ...fields } of vectors.lists) {
    it(`of ${name} has the bytes of the vector, which another library signs the same`, () => {
      const body: RevocationList = {
        channel: fields.channel as ChannelId,
        sequence: u64(BigInt(fields.sequence)),
        issuedAt: u64(BigInt(fields.issuedAt)),
        removed: fields.removed as HolderId[],
      }
      const sealed = sealRevocations(body, secretOf(operatorSeed))
      expect(toHex(REVOCATION_LIST.preimage(body, 'framed'))).toBe(preimage)
      expect(toHex(encodeRevocations(sealed))).toBe(wire)
      expect(sealed.signature).toBe(signedByOpenssl(operatorSeed, preimage))
      expect(openRevocations(decodeRevocations(hex(wire)), fields.operator as HolderId).body).toEqual(body)
    })
  }

  it('gives back what was encoded, and signs different bytes for different lists', () => {
    fc.assert(
      fc.property(bodies, bodies, signatures, (body, other, signature) => {
        expect(decodeRevocations(encodeRevocations({ body, signature }))).toEqual({ body, signature })
        const [one, two] = [body, other].map((list) => toHex(REVOCATION_LIST.preimage(list, 'framed')))
        const [left, right] = [body, other].map((list) => toHex(encodeRevocations({ body: list, signature })))
        expect(one === two).toBe(left === right)
      }),
      { numRuns: 300 },
    )
  })

  it('is read the same from the middle of a larger buffer', () => {
    const wire = encodeRevocations(sealRevocations(SAMPLE, OPERATOR.secret))
    const larger = Buffer.concat([Buffer.alloc(5, 0xff), wire, Buffer.alloc(5, 0xff)])
    expect(decodeRevocations(larger.subarray(5, 5 + wire.length))).toEqual(decodeRevocations(wire))
  })

  it('is refused with any one byte changed, cut off or added', () => {
    const wire = encodeRevocations(sealRevocations(SAMPLE, OPERATOR.secret))
    const open = (bytes: Uint8Array): unknown => openRevocations(decodeRevocations(bytes), operator)
    open(wire)
    for (let at = 0; at < wire.length; at += 1) {
      const changed = Uint8Array.from(wire)
      changed[at] = (changed[at] ?? 0) ^ (1 << (at & 7))
      expect(() => open(changed), `byte ${at}`).toThrow(REFUSED)
      expect(() => open(wire.subarray(0, at)), `${at} bytes`).toThrow(REFUSED)
    }
    expect(() => open(Buffer.concat([wire, Buffer.alloc(1)]))).toThrow(REFUSED)
  })

  it('meets any bytes with an error of ours', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          openRevocations(decodeRevocations(bytes), operator)
        } catch (error) {
          if (isCtError(error, 'ERR_ARTEFACT_INVALID', 'ERR_SIGNATURE_INVALID')) return
          throw error
        }
        throw new Error('expected a refusal')
      }),
    )
  })

  it('takes the holders in any order and twice, and has one wire form', () => {
    const named = { ...SAMPLE, removed: [holder(2), holder(1), holder(2)] }
    expect(sealRevocations(named, OPERATOR.secret)).toEqual(sealRevocations(SAMPLE, OPERATOR.secret))
  })

  for (const [name, removed] of [
    ['out of order', [holder(2), holder(1)]],
    ['with one twice', [holder(1), holder(1)]],
  ] as const) {
    it(`${name} is neither signed nor read`, () => {
      const body = { ...SAMPLE, removed }
      const signature = 'ab'.repeat(64) as Signature
      expect(() => seal(REVOCATION_LIST, body, OPERATOR.secret)).toThrow(MALFORMED)
      expect(() => decodeRevocations(encodeRevocations({ body, signature }))).toThrow(MALFORMED)
    })
  }

  it(`holds ${MAX_REMOVED} holders and no more`, () => {
    const removed = Array.from({ length: MAX_REMOVED + 1 }, (_, index) => holder(index))
    const full = sealRevocations({ ...SAMPLE, removed: removed.slice(1) }, OPERATOR.secret)
    expect(encodeRevocations(full)).toHaveLength(MAX_REVOCATION_BYTES)
    expect(decodeRevocations(encodeRevocations(full))).toEqual({ body: full.body, signature: full.signature })
    expect(() => sealRevocations({ ...SAMPLE, removed }, OPERATOR.secret)).toThrow(MALFORMED)
    const over: Sealed<RevocationList> = { body: { ...SAMPLE, removed }, signature: full.signature }
    expect(() => decodeRevocations(encodeRevocations(over))).toThrow(MALFORMED)
  })

  it('is refused of another operator', () => {
    const sealed = sealRevocations(SAMPLE, secretOf('02'.repeat(32)))
    expect(() => openRevocations(sealed, operator)).toThrow(expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' }))
  })
})

const MALFORMED = expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' })
const REFUSED = expect.objectContaining({ code: expect.stringMatching(/^ERR_(ARTEFACT|SIGNATURE)_INVALID$/) })
