/**
 * What a guest may ask: a challenge, and to become a member by answering it with the key of its invitation.
 *
 * Holds: in this order it is checked that the request can be read, that the invitation is known and holds, that the
 * challenge is one of this link, that the invited key signed, and last that a use is left; so nothing is used up by who
 * has not proven everything else.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { openInvitation, openRedemption, signedByOneOf } from '../../channel/membership/index.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type HolderId, parseHexBytes, parseSignature, type Signature, shortId } from '../../core/ids.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { type U64, unixSeconds } from '../../core/u64.ts'
import { type ExtensionMethod, type ExtensionMethods, type Params } from '../../mcp/index.ts'
import { type AuditFacts } from '../observing/audit/audit-line.ts'
import { hideLocalErrors } from '../serving/local-errors.ts'
import { CHALLENGE_BYTES, Challenges, type TakenChallenge } from './challenges.ts'
import { CHALLENGE_METHOD, type MembershipDocument, membershipJson, REDEEM_METHOD } from './membership-document.ts'
import { redeem, whyDead } from './redemption.ts'
import { type MemberRecord, type OpenedInvitation, type Roster } from './roster.ts'

export interface RedeemingDeps {
  readonly roster: Roster
  /** The operator's keys whose signatures count now. */
  readonly operators: () => readonly HolderId[]
  readonly clock: Clock
  readonly log: Pick<Log, 'info' | 'warn'>
  readonly grantSeconds: U64
  readonly documentOf: (holder: HolderId) => MembershipDocument
  readonly audit?: ((event: string, facts: AuditFacts) => void) | undefined
}

/** What the guest asked wrongly, or in vain; all else, such as a file that another process holds, is our own trouble. */
const FAULTS_OF_GUEST = [
  'ERR_CALL_INVALID',
  'ERR_CHALLENGE_INVALID',
  'ERR_SIGNATURE_INVALID',
  'ERR_INVITATION_INVALID',
  'ERR_INVITATION_REVOKED',
  'ERR_INVITATION_EXPIRED',
  'ERR_INVITATION_USED',
  'ERR_MEMBER_REMOVED',
] as const

/** A guest that goes on is sent away: it has an invitation and cannot use it. */
const MAX_VAIN_TRIES = 5

/** For one link of a guest. @param leave ends the link */
export function guestMethods(
  invitee: HolderId,
  deps: RedeemingDeps,
  leave: (reason: CtError) => void,
): ExtensionMethods {
  const { clock, log } = deps
  const challenges = new Challenges(clock, randomBytes)
  let vain = 0
  let troubles = 0
  let hasJoined = false
  const redeemFor = (params: Params, peer: HolderId): JsonValue => {
    let taken: TakenChallenge | undefined
    const take = (challenge: string): Uint8Array => {
      taken = challenges.take(challenge)
      return taken.bytes
    }
    try {
      const member = admit({ params, peer, invitee, take }, deps)
      if (!hasJoined) {
        log.info('member.joined', { peer: shortId(peer), member: member.name, invitation: shortId(invitee) })
        deps.audit?.('member_joined', { peer, name: member.name, invitation: shortId(invitee) })
      }
      hasJoined = true
      return membershipJson(deps.documentOf(member.holder))
    } catch (error) {
      const isOurs = !isCtError(error, ...FAULTS_OF_GUEST)
      if (isOurs) {
        taken?.putBack()
        troubles += 1
      } else {
        vain += 1
      }
      if (!isCtError(error)) throw error
      // Nobody fills the logs by asking again.
      if ((isOurs ? troubles : vain) <= MAX_VAIN_TRIES) {
        log.warn('member.not_joined', { peer: shortId(peer), invitation: shortId(invitee), code: error.code })
        deps.audit?.('member_not_joined', { peer, invitation: shortId(invitee), code: error.code })
      }
      if (!isOurs && vain === MAX_VAIN_TRIES) {
        const reason = `an invitation was redeemed in vain ${vain} times`
        // The answer leaves first.
        clock.after(LAST_ANSWER_MS, () => leave(new CtError('ERR_PEER_REFUSED', reason)))
      }
      throw error
    }
  }
  return new Map<string, ExtensionMethod>([
    [CHALLENGE_METHOD, () => ({ challenge: challenges.give() })],
    [REDEEM_METHOD, (params, { peer }) => hideLocalErrors(() => redeemFor(params, peer))],
  ])
}

const LAST_ANSWER_MS = 100

interface Attempt {
  readonly params: Params
  readonly peer: HolderId
  readonly invitee: HolderId
  /** The bytes of a challenge, which is used then. */
  readonly take: (challenge: string) => Uint8Array
}

function admit({ params, peer, invitee, take }: Attempt, deps: RedeemingDeps): MemberRecord {
  const { roster, clock, grantSeconds } = deps
  const { challenge, signature, wish } = readRequest(params)
  const now = unixSeconds(clock)
  const found = roster.read((page) => whyDead(page.invitation(invitee), now))
  if ('problem' in found) throw found.problem
  const invitation = openOwn(found.invitation, deps)
  openRedemption({ holder: peer, signature }, invitation, take(challenge))
  return roster.update((page) => redeem(page, { invitee, holder: peer, wish, now, grantSeconds }))
}

/** Also what is read from this machine was signed by a key of the operator that counts now. */
function openOwn({ sealed }: OpenedInvitation, { operators, clock }: RedeemingDeps) {
  const now = unixSeconds(clock)
  try {
    return signedByOneOf(operators(), (operator) => openInvitation(sealed, { operator, now }))
  } catch (error) {
    if (isCtError(error, 'ERR_ARTEFACT_EXPIRED')) throw new CtError('ERR_INVITATION_EXPIRED', error.message)
    if (!isCtError(error)) throw error
    throw new CtError('ERR_INVITATION_INVALID', 'no key of the operator that counts now signed the invitation', {
      cause: error,
    })
  }
}

interface Request {
  readonly challenge: string
  readonly signature: Signature
  readonly wish: string
}

function readRequest(params: Params): Request {
  const { challenge, signature, name } = isJsonObject(params) ? params : {}
  const bytes = typeof challenge === 'string' ? parseHexBytes(challenge, CHALLENGE_BYTES) : ABSENT
  if ('problem' in bytes) throw malformed('challenge', bytes.problem)
  const signed = typeof signature === 'string' ? parseSignature(signature) : ABSENT
  if ('problem' in signed) throw malformed('signature', signed.problem)
  if (name !== undefined && typeof name !== 'string') throw malformed('name', 'expected text')
  return {
    challenge: Buffer.from(bytes.value).toString('hex'),
    signature: signed.value,
    wish: name ?? '',
  }
}

const ABSENT = { problem: 'expected a text of hex digits' } as const

function malformed(key: string, problem: string): CtError {
  return new CtError('ERR_CALL_INVALID', `${key}: ${problem}`)
}
