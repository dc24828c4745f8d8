/**
 * Noise attestations: a holder says which Noise key is its own on a channel.
 *
 * Holds: it never expires; who does not want it any more ends the membership.
 *
 * @module
 */
import { type ArtefactKind, type OpenOptions, open, type Sealed, type Verified } from '../../core/artefact.ts'
import { type ChannelId, type HolderId, type NoiseKeyId } from '../../core/ids.ts'
import { Preimage } from '../../core/preimage.ts'
import { U64_MAX } from '../../core/u64.ts'

export interface NoiseAttestation {
  readonly channel: ChannelId
  readonly holder: HolderId
  readonly noiseKey: NoiseKeyId
}

/** Signed by the holder. */
export const NOISE_ATTESTATION: ArtefactKind<NoiseAttestation> = {
  name: 'noise attestation',
  domain: 'framed',
  hasLegacyForm: true,
  preimage: ({ channel, holder, noiseKey }, form) =>
    new Preimage('ct-a2a-noise-attest-v1', form).id(channel).id(holder).id(noiseKey).bytes(),
  validity: () => ({}),
}

/** @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_SIGNATURE_LEGACY` */
export function openAttestation(
  sealed: Sealed<NoiseAttestation>,
  options: Pick<OpenOptions, 'acceptLegacy' | 'verifier'> = {},
): Verified<NoiseAttestation> {
  return open(NOISE_ATTESTATION, sealed, { ...options, signer: sealed.body.holder, now: U64_MAX })
}
