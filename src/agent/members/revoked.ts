/**
 * The revocation list that a roster makes.
 *
 * @module
 */
import { MAX_REMOVED, type RevocationList, sealRevocations } from '../../channel/membership/index.ts'
import { type Verified } from '../../core/artefact.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type SecretKey } from '../../core/keys.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { type RosterView } from './roster.ts'

export interface RevocationSigner {
  readonly operator: SecretKey
  readonly channel: ChannelId
  readonly now: UnixSeconds
}

/** Nothing while nobody was ever removed. */
export function revocationList(
  page: RosterView,
  { operator, channel, now }: RevocationSigner,
): Verified<RevocationList> | undefined {
  const sequence = page.sequence()
  if (sequence === 0n) return undefined
  return sealRevocations({ channel, sequence, issuedAt: now, removed: revokedKeys(page, now) }, operator)
}

/**
 * Holders that were removed and keys of invitations that were taken back, unless all that they can show has expired.
 *
 * Where there are more than a list may have, those that were removed first are left out: the serving side itself still
 * refuses them.
 */
export function revokedKeys(page: RosterView, now: UnixSeconds): readonly HolderId[] {
  const removed = page.removals().filter(({ endsAt }) => now < endsAt)
  const revoked = page
    .invitations()
    .filter(({ revokedAt, sealed }) => revokedAt !== undefined && now < sealed.body.expiresAt)
  return [...removed.map(({ holder }) => holder), ...revoked.map(({ invitee }) => invitee)].slice(0, MAX_REMOVED)
}
