/**
 * Who belongs to a channel, and what says so. Loads no network code.
 *
 * @module
 */
export { NOISE_ATTESTATION } from './attestation.ts'
export { linkChannelId, pipelineChannelId } from './channel-id.ts'
export { allows, checkCredentials } from './credentials.ts'
export { decodeGrant, encodeGrant, GRANT, type Grant, openGrant } from './grant.ts'
export { encodeInvitation, INVITATION } from './invitation.ts'
export { attestNoiseKey, passOn } from './passing.ts'
export { decodeStaple, encodeStaple, type MembershipStaple } from './staple.ts'
