/**
 * What a member signs itself to be admitted: a grant of its own for another key, and that a Noise key is its own.
 *
 * @module
 */
import { seal, type Verified } from '../../core/artefact.ts'
import { type ChannelId, type HolderId, type Signature } from '../../core/ids.ts'
import { type HolderKey, type NoiseKey, type SecretKey } from '../../core/keys.ts'
import { NOISE_ATTESTATION } from './attestation.ts'
import { GRANT, type Grant } from './grant.ts'

/** All that the grant gives, for another holder, who may not pass it on. @param secret of the grant's holder */
export function passOn({ body }: Verified<Grant>, secret: SecretKey, holder: HolderId): Verified<Grant> {
  return seal(GRANT, { ...body, holder, delegable: false }, secret)
}

export interface MemberKeys {
  readonly holder: HolderKey
  readonly noise: NoiseKey
}

/** On this channel the holder uses this Noise key. */
export function attestNoiseKey(channel: ChannelId, { holder, noise }: MemberKeys): Signature {
  return seal(NOISE_ATTESTATION, { channel, holder: holder.id, noiseKey: noise.id }, holder.secret).signature
}
