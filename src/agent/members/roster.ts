/**
 * Whom a serving agent invited, who became a member, and who was removed.
 *
 * @module
 */
import { type Invitation } from '../../channel/membership/index.ts'
import { type Sealed } from '../../core/artefact.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Rights } from '../../core/rights.ts'
import { type U64, type UnixSeconds } from '../../core/u64.ts'

/** An invitation, without the seed of its key: that is in the ticket alone. */
export interface InvitationRecord {
  readonly invitee: HolderId
  /** Says rights and expiry. */
  readonly sealed: Sealed<Invitation>
  /** What whoever redeems it is called; others after the first with a number. */
  readonly name: string | undefined
  /** The only ones that its members may call; all without. */
  readonly tools: readonly string[] | undefined
  /** So many holders may redeem it. */
  readonly uses: number
  readonly madeAt: UnixSeconds
  readonly revokedAt: UnixSeconds | undefined
}

/** An invitation, and how many have redeemed it. */
export interface OpenedInvitation extends InvitationRecord {
  readonly used: number
}

export interface MemberRecord {
  readonly holder: HolderId
  /** Nobody else has it. */
  readonly name: string
  readonly rights: Rights
  /** The only ones that it may call; all without. */
  readonly tools: readonly string[] | undefined
  /** The key of the invitation that it redeemed last. */
  readonly invitee: HolderId
  readonly since: UnixSeconds
  /** Of its newest grant. */
  readonly grantedAt: UnixSeconds
  readonly grantEnds: UnixSeconds
}

export interface RemovalRecord {
  readonly holder: HolderId
  readonly removedAt: UnixSeconds
  /** When everything has expired that the holder can show: brokers need not know of it any more. */
  readonly endsAt: UnixSeconds
}

/** What the last `ct-agent serve` was, for invitations made beside it. */
export interface ServedPlace {
  readonly holder: HolderId
  readonly broker: readonly string[]
  readonly addresses: readonly string[]
  readonly tools: readonly string[]
  /** When its bearer ticket ends; none when it gave out none. */
  readonly ticketEnds: UnixSeconds | undefined
}

export interface RosterView {
  readonly invitation: (invitee: HolderId) => OpenedInvitation | undefined
  /** True when the holder redeemed this invitation. */
  readonly hasRedeemed: (invitee: HolderId, holder: HolderId) => boolean
  /** Also of one that was removed. */
  readonly member: (holder: HolderId) => MemberRecord | undefined
  readonly isRemoved: (holder: HolderId) => boolean
  readonly isNameTaken: (name: string) => boolean
  /** With those that were removed, by name. */
  readonly members: () => readonly MemberRecord[]
  readonly memberCount: () => number
  /** The last first. */
  readonly removals: () => readonly RemovalRecord[]
  /** Oldest first. */
  readonly invitations: () => readonly OpenedInvitation[]
  readonly place: () => ServedPlace | undefined
  /** The operator's key that signs, as far as it was ever noted. */
  readonly signer: () => HolderId | undefined
  /** Grows with every change of who is removed, and of the key that signs. */
  readonly sequence: () => U64
}

export interface RosterPage extends RosterView {
  readonly addInvitation: (invitation: InvitationRecord) => void
  readonly forgetInvitation: (invitee: HolderId) => void
  /** Takes one use. */
  readonly noteRedemption: (invitee: HolderId, holder: HolderId, at: UnixSeconds) => void
  readonly revokeInvitation: (invitee: HolderId, at: UnixSeconds) => void
  /** In place of what was known of this holder. */
  readonly putMember: (member: MemberRecord) => void
  /** Nobody with this key is admitted from now on. What it was as a member is kept, so that it can be let in again. */
  readonly remove: (removal: RemovalRecord) => void
  readonly forgive: (holder: HolderId, at: UnixSeconds) => void
  /** Makes room for one more member, if somebody who was removed can be forgotten as a member for it. */
  readonly makeRoom: () => void
  readonly remember: (place: ServedPlace) => void
  /** Another key signs from now on. */
  readonly noteSigner: (signer: HolderId, at: UnixSeconds) => void
}

/** One file for all processes of an agent. */
export interface Roster {
  /** @throws {CtError} `ERR_STATE_UNAVAILABLE`, `ERR_PEER_BUSY` */
  readonly read: <Result>(work: (page: RosterView) => Result) => Result
  /** All of it or nothing, also when the process dies. @throws {CtError} `ERR_STATE_UNAVAILABLE`, `ERR_PEER_BUSY` */
  readonly update: <Result>(work: (page: RosterPage) => Result) => Result
  /** True when another process has changed it since this was asked the last time. */
  readonly changedElsewhere: () => boolean
  readonly close: () => void
}

/** The list of revocations, and what looks members up, stay small. */
export const MAX_MEMBERS = 4_096
/** Those that can still be redeemed or whose members may ask again. */
export const MAX_INVITATIONS = 1_024
/** Holders that were removed, for good. */
export const MAX_REMOVALS = 16_384
/** Holders that may redeem one invitation. */
export const MAX_USES = 1_024
/** Names of tools in one invitation. */
export const MAX_TOOLS = 64
