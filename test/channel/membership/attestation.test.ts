import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  NOISE_ATTESTATION,
  type NoiseAttestation,
  openAttestation,
} from '../../../src/channel/membership/attestation.ts'
import { checkSignature, type Sealed, seal } from '../../../src/core/artefact.ts'
import { toHex } from '../../../src/core/bytes.ts'
import { type ChannelId, type HolderId, type NoiseKeyId, type Signature } from '../../../src/core/ids.ts'
import { holderKey, sign } from '../../../src/core/keys.ts'
import vectors from '../../vectors/channel.json' with { type: 'json' }
import { hex, idOf, opensslVerifies, secretOf } from './signed-wire.ts'

interface AttestationFields {
  readonly channel: string
  readonly holder: string
  readonly noiseKey: string
}

function attestationOf({ channel, holder, noiseKey }: AttestationFields): NoiseAttestation {
  return { channel: channel as ChannelId, holder: holder as HolderId, noiseKey: noiseKey as NoiseKeyId }
}

const LEGACY: Sealed<NoiseAttestation> = {
  body: attestationOf(vectors.legacyAttestation),
  signature: vectors.legacyAttestation.signature as Signature,
}
const invalid = expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' })

describe('a noise attestation', () => {
  const { name, preimage } = vectors.attestationPreimage
  it(`${name}`, () => {
    expect(toHex(NOISE_ATTESTATION.preimage(attestationOf(vectors.attestationPreimage), 'framed'))).toBe(preimage)
  })

  for (const vector of vectors.attestations) {
    it(`${vector.name}`, () => {
      const body = attestationOf(vector)
      expect(toHex(NOISE_ATTESTATION.preimage(body, 'framed'))).toBe(vector.preimage)
      const sealed = seal(NOISE_ATTESTATION, body, secretOf(vector.holderSeed))
      expect(sealed.signature).toBe(vector.signature)
      expect(openAttestation({ body, signature: vector.signature as Signature })).toEqual(sealed)
    })
  }

  describe(vectors.legacyAttestation.name, () => {
    it('is refused as of the legacy form', () => {
      const legacy = expect.objectContaining({ code: 'ERR_SIGNATURE_LEGACY' })
      expect(toHex(NOISE_ATTESTATION.preimage(LEGACY.body, 'bare'))).toBe(vectors.legacyAttestation.preimage)
      expect(() => openAttestation(LEGACY)).toThrow(legacy)
      expect(() => openAttestation(LEGACY, { acceptLegacy: false })).toThrow(legacy)
    })

    it('is accepted by those who accept the legacy form, and marked', () => {
      expect(openAttestation(LEGACY, { acceptLegacy: true })).toEqual({ ...LEGACY, form: 'legacy' })
    })

    it('is refused by everybody with another key in it', () => {
      const body = { ...LEGACY.body, noiseKey: 'ab'.repeat(32) as NoiseKeyId }
      expect(() => openAttestation({ ...LEGACY, body }, { acceptLegacy: true })).toThrow(invalid)
    })
  })

  // Nobody can compute this id, but the attestation that is published beside it covers it.
  it(`${vectors.publishedLinkChannel.name}`, () => {
    const { channel, member } = vectors.publishedLinkChannel
    const body = { ...LEGACY.body, channel: channel as ChannelId, holder: member as HolderId }
    expect(openAttestation({ ...LEGACY, body }, { acceptLegacy: true }).body).toEqual(LEGACY.body)
  })

  it('is refused with any one bit of its signature changed', () => {
    const holder = holderKey(secretOf('02'.repeat(32)))
    const body = { ...LEGACY.body, holder: holder.id }
    for (const bytes of [
      sign(NOISE_ATTESTATION.preimage(body, 'framed'), holder.secret),
      sign(NOISE_ATTESTATION.preimage(body, 'bare'), holder.secret),
    ]) {
      openAttestation({ body, signature: toHex(bytes) as Signature }, { acceptLegacy: true })
      for (let bit = 0; bit < 512; bit += 11) {
        const changed = Uint8Array.from(bytes)
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const signature = toHex(changed) as Signature
        expect(() => openAttestation({ body, signature }, { acceptLegacy: true })).toThrow(invalid)
      }
    }
  })

  it('is refused with any one bit of its body changed', () => {
    const vector = vectors.attestations[1]
    if (vector === undefined) throw new Error('expected vectors')
    const signature = vector.signature as Signature
    for (const field of ['channel', 'holder', 'noiseKey'] as const) {
      for (let bit = 0; bit < 256; bit += 1) {
        const bytes = hex(vector[field])
        bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const body = attestationOf({ ...vector, [field]: toHex(bytes) })
        const options = { signer: body.holder, acceptLegacy: true, verifier: opensslVerifies }
        expect(() => checkSignature(NOISE_ATTESTATION, { body, signature }, options)).toThrow(invalid)
      }
    }
  })

  it('signs different bytes for different bodies, and only then', () => {
    const bodies = fc.record({
      channel: idOf<ChannelId>(),
      holder: idOf<HolderId>(),
      noiseKey: idOf<HolderId>().map((id): string => id),
    })
    fc.assert(
      fc.property(bodies, bodies, (one, other) => {
        const [left, right] = [one, other].map((body) =>
          toHex(NOISE_ATTESTATION.preimage(attestationOf(body), 'framed')),
        )
        expect(left === right).toBe(JSON.stringify(one) === JSON.stringify(other))
      }),
      { numRuns: 500 },
    )
  })
})
