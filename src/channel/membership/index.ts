/**
 * Who belongs to a channel, and what says so. Loads no network code.
 *
 * @module
 */
export { NOISE_ATTESTATION } from './attestation.ts'
export { linkChannelId, pipelineChannelId } from './channel-id.ts'
export { allows, checkCredentials, type Membership } from './credentials.ts'
export { decodeGrant, encodeGrant, GRANT, type Grant, isGrantOf, openGrant } from './grant.ts'
export {
  decodeInvitation,
  encodeInvitation,
  INVITATION,
  type Invitation,
  openInvitation,
  openRedemption,
  REDEMPTION,
} from './invitation.ts'
export { KnownRevocations } from './known-revocations.ts'
export { KnownSuccessions } from './known-successions.ts'
export { type OperatorLine, operatorLine } from './operator-line.ts'
export { attestNoiseKey, passOn } from './passing.ts'
export {
  decodeRevocations,
  encodeRevocations,
  MAX_REMOVED,
  MAX_REVOCATION_BYTES,
  openRevocations,
  type RevocationList,
  sealRevocations,
} from './revocations.ts'
export { signedByOneOf } from './signed-wire.ts'
export { decodeStaple, encodeStaple, type MembershipStaple, openStaple, sealStaple, stapling } from './staple.ts'
export {
  decodeSuccession,
  EVERY_CHANNEL,
  encodeSuccession,
  MAX_SUCCESSIONS,
  type SignedSuccession,
  sealSuccession,
} from './succession.ts'
