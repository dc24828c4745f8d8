/**
 * What a member shows to be admitted to a channel, and what it may do there.
 *
 * Grants form a chain: the operator signs the first, the holder of each signs the next. Holds: a link of the chain never
 * allows more than the one before, so a member has never more than anybody before it; nobody in between has to be
 * trusted. A chain is as good as its weakest holder: who removes one, removes all whose membership rests on it.
 *
 * @module
 */
import { type Sealed } from '../../core/artefact.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId, type NoiseKeyId, type Signature } from '../../core/ids.ts'
import { verifyExactly } from '../../core/keys.ts'
import { hasRight } from '../../core/rights.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { openAttestation } from './attestation.ts'
import { type Grant, isGrantOf, openGrant } from './grant.ts'
import { type Direction, type Rights } from './permission.ts'
import { signedByOneOf } from './signed-wire.ts'
import { type MembershipStaple, openStaple } from './staple.ts'

export interface Credentials {
  /** From the operator's grant to the member's own. */
  readonly grants: readonly Sealed<Grant>[]
  /** Of the Noise key that the member uses on this channel. */
  readonly attestation: Signature
  /** The operator’s word that the member was one a short while ago, for those who cannot ask. */
  readonly staple?: Sealed<MembershipStaple>
}

/** What the keys at the far end have proven by a handshake. */
export interface ProvenMember {
  readonly holder: HolderId
  readonly noiseKeys: ReadonlySet<NoiseKeyId>
}

/** The side of a session that a member is. */
export type Side = Exclude<Direction, 'both'>

export interface MembershipRule {
  readonly operator: HolderId
  /** The keys that stand for the operator now, the newest first; its own alone without it. */
  readonly operators?: readonly HolderId[]
  /** Those that stood for it before: what they signed only explains why it does not count. */
  readonly retired?: readonly HolderId[]
  readonly channel: ChannelId
  /** The side of a session that the member wants to be. */
  readonly side: Side
  readonly now: UnixSeconds
  /** The operator removed this holder. */
  readonly isRevoked?: (holder: HolderId) => boolean
  /** It could not be asked for too long whom the operator removed: only a staple of the member says that it was not. */
  readonly needsStaple?: boolean
}

export interface Membership {
  readonly rights: Rights
  /** The first second in which it no longer holds. */
  readonly expiresAt: UnixSeconds
  /** Whose grants it rests on, the member's own last. */
  readonly chain: readonly HolderId[]
}

/** When the broker may be back, or the member have a staple. */
const STALE_RETRY_MS = 5_000
/** An operator's grant and two more. */
export const MAX_GRANTS = 3

/**
 * What the member may do, or why it is refused: `ERR_GRANT_INVALID`, `ERR_GRANT_EXPIRED`, `ERR_MEMBER_REMOVED` or
 * `ERR_MEMBERSHIP_STALE`, with the category as `detail.category`.
 */
export function checkCredentials(
  { grants, attestation, staple }: Credentials,
  { holder, noiseKeys }: ProvenMember,
  rule: MembershipRule,
): Membership | CtError {
  const own = grants.at(-1)?.body
  if (own === undefined || grants.length > MAX_GRANTS) {
    return refusal('malformed', `expected 1 to ${MAX_GRANTS} grants, found ${grants.length}`)
  }
  // Before any signature is checked: what was copied from somebody else costs nothing.
  if (own.holder !== holder) return refusal('possession', `the grant is one of ${own.holder}, not of ${holder}`)
  const problem = checkChain(grants, rule)
  if (problem !== undefined) return problem
  if (!allows(own.direction, rule.side)) return refusal('pairing', `the grant does not allow to ${rule.side}`)
  const unattested = checkAttestation(attestation, { holder, noiseKeys }, rule.channel)
  if (unattested !== undefined) return unattested
  const unstapled = rule.needsStaple === true ? checkStaple(staple, holder, rule) : undefined
  if (unstapled !== undefined) return unstapled
  return { rights: own.rights, expiresAt: own.expiresAt, chain: grants.map(({ body }) => body.holder) }
}

/** True when one who may do the first may also do the second. */
export function allows(direction: Direction, side: Direction): boolean {
  return direction === side || direction === 'both'
}

function checkChain(grants: readonly Sealed<Grant>[], rule: MembershipRule): CtError | undefined {
  let signers = rule.operators ?? [rule.operator]
  let before: Grant | undefined
  for (const sealed of grants) {
    const grant = openLink(sealed, signers, rule)
    if (grant instanceof CtError) return grant
    const problem = before === undefined ? undefined : widened(before, grant)
    if (problem !== undefined) return problem
    signers = [grant.holder]
    before = grant
  }
  return undefined
}

function openLink(
  sealed: Sealed<Grant>,
  signers: readonly HolderId[],
  { channel, now, isRevoked, retired = [] }: MembershipRule,
): Grant | CtError {
  try {
    const open = (operator: HolderId) => openGrant(sealed, { operator, now }, { verifier: verifyExactly })
    const { body } = signedByOneOf(signers, open)
    if (body.channel !== channel) return refusal('not-member', `the grant is for channel ${body.channel}`)
    if (isRevoked?.(body.holder) !== true) return body
    return memberRemoved(body.holder)
  } catch (error) {
    if (!isCtError(error)) throw error
    if (isGrantOf(retired, sealed, now, { verifier: verifyExactly }))
      return refusal('grant-verify', RETIRED, 'ERR_GRANT_EXPIRED')
    const code = error.code === 'ERR_ARTEFACT_EXPIRED' ? 'ERR_GRANT_EXPIRED' : 'ERR_GRANT_INVALID'
    return refusal('grant-verify', error.message, code)
  }
}

/** Why an earlier key of the operator signed in vain. */
const RETIRED =
  'the operator has changed its key, and what the earlier one signed no longer counts: ask for a new invitation or ticket'

/** Why the later grant allows more than the earlier one. */
function widened(before: Grant, grant: Grant): CtError | undefined {
  if (!before.delegable) return refusal('grant-verify', `the grant of ${before.holder} may not be passed on`)
  if (!allows(before.direction, grant.direction)) {
    return refusal('grant-verify', 'a passed-on grant allows another side than the one it rests on')
  }
  if ((['r', 'w'] as const).some((right) => hasRight(grant.rights, right) && !hasRight(before.rights, right))) {
    return refusal('grant-verify', 'a passed-on grant allows more than the one it rests on')
  }
  if (grant.expiresAt > before.expiresAt) {
    return refusal('grant-verify', 'a passed-on grant outlives the one it rests on')
  }
  return undefined
}

function checkAttestation(
  signature: Signature,
  { holder, noiseKeys }: ProvenMember,
  channel: ChannelId,
): CtError | undefined {
  let isLegacy = false
  // A handshake proves the key that lasts after the one that does not.
  for (const noiseKey of [...noiseKeys].reverse()) {
    try {
      openAttestation({ body: { channel, holder, noiseKey }, signature }, { verifier: verifyExactly })
      return undefined
    } catch (error) {
      if (!isCtError(error)) throw error
      isLegacy ||= error.code === 'ERR_SIGNATURE_LEGACY'
    }
  }
  return refusal(
    'possession',
    isLegacy
      ? 'the attestation of the Noise key is signed in the legacy form'
      : `${holder} did not attest the Noise key of the handshake for this channel`,
  )
}

function checkStaple(
  staple: Credentials['staple'],
  holder: HolderId,
  { operator, operators = [operator], channel, now }: MembershipRule,
): CtError | undefined {
  const problem = staple === undefined ? 'none was shown' : stapleProblem(staple, { operators, channel, holder, now })
  if (problem === undefined) return undefined
  const message = `nobody could be asked for an hour who was removed, so a membership staple is needed: ${problem}`
  const detail = { category: 'not-member', retryAfterMs: STALE_RETRY_MS }
  return new CtError('ERR_MEMBERSHIP_STALE', message, { detail })
}

interface StapleRule extends Pick<MembershipRule, 'channel' | 'now'> {
  readonly operators: readonly HolderId[]
  readonly holder: HolderId
}

function stapleProblem(
  staple: Sealed<MembershipStaple>,
  { operators, channel, holder, now }: StapleRule,
): string | undefined {
  if (staple.body.channel !== channel || staple.body.holder !== holder) return 'the one that was shown is another’s'
  try {
    signedByOneOf(operators, (operator) => openStaple(staple, { operator, now }))
    return undefined
  } catch (error) {
    if (isCtError(error)) return error.message
    throw error
  }
}

/** Categories as the original program names them, so that operators find them in its documents. */
export type RefusalCategory = 'malformed' | 'not-member' | 'grant-verify' | 'possession' | 'pairing'

type RefusalCode = 'ERR_GRANT_INVALID' | 'ERR_GRANT_EXPIRED' | 'ERR_MEMBER_REMOVED'

/** Why somebody is not admitted to a channel. */
export function refusal(category: RefusalCategory, message: string, code: RefusalCode = 'ERR_GRANT_INVALID'): CtError {
  return new CtError(code, message, { detail: { category } })
}

/** The operator removed the member, or one whose grant its membership rests on. */
export function memberRemoved(holder: HolderId): CtError {
  return refusal('not-member', `the operator removed ${holder}`, 'ERR_MEMBER_REMOVED')
}
