/**
 * Who may be at the far end of a session. Pure: keys that the handshake proved and a hello go in, a verdict comes out.
 *
 * Holds: with no rule at all nobody is admitted, and every kind of rule that is given must be met.
 *
 * @module
 */
import { equalBytes } from '../core/bytes.ts'
import { CtError } from '../core/errors.ts'
import { type ChannelId, type HolderId, type NoiseKeyId, shortId } from '../core/ids.ts'
import { type SecretKey } from '../core/keys.ts'
import { type UnixSeconds } from '../core/u64.ts'
import { checkCredentials, type Membership, refusal, type Side } from './membership/credentials.ts'
import { type KnownRevocations } from './membership/known-revocations.ts'
import { type KnownSuccessions } from './membership/known-successions.ts'
import { type Hello } from './session/hello.ts'
import { ticketProof } from './ticket.ts'

/** Whose members are trusted. */
export interface ChannelTrust {
  readonly operator: HolderId
  readonly channel: ChannelId
  /** The operator removed this holder; asked whenever somebody wants to be admitted. */
  readonly isRevoked?: (holder: HolderId) => boolean
  /** Why a membership that the operator granted does not count now, if so; every one counts without it. */
  readonly refusal?: (membership: Membership) => CtError | undefined
}

/**
 * Every kind of pin that is given must be met, and so must the rules of the channel, of which no ticket is a member; a
 * ticket admits whoever proves its secret and meets the rest.
 */
export interface TrustPolicy {
  readonly holders?: ReadonlySet<HolderId>
  readonly noiseKeys?: ReadonlySet<NoiseKeyId>
  /** Secret of the ticket this side gave out. */
  readonly ticketSecret?: SecretKey
  /** Only members of this channel. */
  readonly channel?: ChannelTrust
}

export interface ProvenKeys {
  readonly holder: HolderId
  readonly noiseKeys: ReadonlySet<NoiseKeyId>
}

/** Why these keys are not the pinned ones; `undefined` when they are. */
export function checkPins({ holders, noiseKeys }: TrustPolicy, proven: ProvenKeys): CtError | undefined {
  if (holders !== undefined && !holders.has(proven.holder)) {
    return new CtError('ERR_PEER_REFUSED', `the holder key ${shortId(proven.holder)}… is not among the trusted ones`)
  }
  if (noiseKeys !== undefined && ![...proven.noiseKeys].some((key) => noiseKeys.has(key))) {
    return new CtError('ERR_PEER_REFUSED', 'the Noise key used in the handshake is not among the trusted ones')
  }
  return undefined
}

/** Where somebody asks to be admitted. */
export interface AdmissionPoint {
  /** The side of the session that the peer is. */
  readonly side: Side
  readonly now: UnixSeconds
  /** Whom the operator of the channel removed. */
  readonly revocations?: Pick<KnownRevocations, 'isRevoked' | 'isStale'> | undefined
  /** Which keys have taken over from others; the peer's hello may add to it. */
  readonly successions?: KnownSuccessions | undefined
}

/** An error for who is not admitted; its membership for who is, where a channel is given. */
export function checkAdmission(
  policy: TrustPolicy,
  proven: ProvenKeys,
  server: HolderId,
  hello: Hello,
  at: AdmissionPoint,
): CtError | Membership | undefined {
  const { holders, noiseKeys, ticketSecret, channel } = policy
  if (holders === undefined && noiseKeys === undefined && ticketSecret === undefined && channel === undefined) {
    return new CtError('ERR_PEER_REFUSED', 'this side trusts nobody')
  }
  const unpinned =
    checkPins(pinsNow(policy, hello, at), proven) ??
    (ticketSecret && checkProof(ticketSecret, proven.holder, server, hello))
  if (unpinned !== undefined || channel === undefined) return unpinned
  if (proven.holder === server) return about(server, refusal('pairing', 'both ends have this one holder key'))
  return checkMembership(channel, proven, hello, at)
}

/** The pins, of which those that have handed over give way to those that took over from them. */
export function pinsNow<Pins extends Pick<TrustPolicy, 'holders'>>(
  pins: Pins,
  { successions: shown = [] }: Pick<Hello, 'successions'>,
  { successions, revocations, now }: Pick<AdmissionPoint, 'successions' | 'revocations' | 'now'>,
): Pins {
  const { holders } = pins
  if (holders === undefined || successions === undefined) return pins
  const kept = [...holders].filter((holder) => revocations?.isRevoked(holder) !== true)
  for (const holder of kept) successions.learn(holder, 'holder', shown, now)
  return { ...pins, holders: new Set(kept.flatMap((holder) => successions.standFor(holder, 'holder', now))) }
}

/** The membership of the peer, or why it is not a member that may be here. */
export function checkMembership(
  { operator, channel, isRevoked, refusal: refusalOf }: ChannelTrust,
  proven: ProvenKeys,
  { credentials, successions: shown = [], mode }: Hello,
  { side, now, revocations, successions }: AdmissionPoint,
): CtError | Membership {
  if (credentials === undefined)
    return about(proven.holder, refusal('not-member', 'a grant is needed and none was shown'))
  successions?.learn(operator, 'operator', shown, now)
  const rule = {
    operator,
    operators: successions?.standFor(operator, 'operator', now) ?? [operator],
    retired: successions?.retired(operator, 'operator', now) ?? [],
    channel,
    side,
    now,
    isRevoked: (holder: HolderId) => isRevoked?.(holder) === true || revocations?.isRevoked(holder) === true,
    needsStaple: revocations?.isStale() === true,
  }
  const membership = checkCredentials(credentials, proven, rule)
  if (membership instanceof CtError) return about(proven.holder, membership)
  const refused = refusalOf?.(membership)
  if (refused !== undefined) return refused
  // A pipe carries whatever its ends like, both ways.
  if (mode !== 'pipe' || membership.rights === 'rw') return membership
  const message = `a pipe needs the rights rw, and the grant gives ${membership.rights}`
  return about(proven.holder, new CtError('ERR_RIGHTS_MISSING', message))
}

// Either side may be told: whose grant it is would not be clear without.
function about(holder: HolderId, cause: CtError): CtError {
  return new CtError(cause.code, `member ${shortId(holder)}…: ${cause.message}`, { cause, detail: cause.detail })
}

function checkProof(secret: SecretKey, caller: HolderId, server: HolderId, { proof }: Hello): CtError | undefined {
  if (equalBytes(proof ?? NO_PROOF, ticketProof(secret, caller, server))) return undefined
  return new CtError('ERR_PEER_REFUSED', proof === undefined ? 'a ticket is needed and none was shown' : OLD_TICKET)
}

const OLD_TICKET = 'the ticket is not, or no longer, the one this side gave out'
const NO_PROOF = new Uint8Array(0)
