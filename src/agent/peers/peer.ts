/**
 * A peer that this agent may call, as it is remembered.
 *
 * @module
 */
import { type Address, type BrokerPlace, formatAddress } from '../../channel/index.ts'
import { type Grant, type MembershipStaple, type SignedSuccession } from '../../channel/membership/index.ts'
import { type Sealed } from '../../core/artefact.ts'
import { type HolderId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'

/** Known by its ticket, which is kept as it is. */
export interface TicketPeer {
  readonly kind: 'ticket'
  readonly ticket: string
  /** Where it proved to be, the last first. */
  readonly proven: readonly Address[]
}

/** One whose operator made this agent a member; the secret of the invitation is not kept. */
export interface MemberPeer {
  readonly kind: 'member'
  /** The serving member. */
  readonly holder: HolderId
  /** Where its invitation said that it is. */
  readonly addresses: readonly Address[]
  readonly proven: readonly Address[]
  readonly broker: readonly BrokerPlace[]
  /** Its first key that this agent knew. */
  readonly operator: HolderId
  /** From that key to the operator's newest, as far as this agent was told. */
  readonly successions: readonly SignedSuccession[]
  /** The key that was invited, by which the same invitation is known again. */
  readonly invited: HolderId
  /** The operator's, for the holder key of this agent. */
  readonly grant: Sealed<Grant>
  readonly staple: Sealed<MembershipStaple>
  /** When this grant and this staple came. */
  readonly renewedAt: UnixSeconds
  /** What the serving side calls this agent. */
  readonly knownAs: string
}

export type Peer = TicketPeer | MemberPeer

/** Addresses that are remembered beside those of the ticket: a peer has few at a time. */
export const MAX_PROVEN = 4

/** The peer with one more address at which it proved its keys. */
export function withProven<Some extends Peer>(peer: Some, address: Address): Some {
  const text = formatAddress(address)
  const others = peer.proven.filter((other) => formatAddress(other) !== text)
  return { ...peer, proven: [address, ...others].slice(0, MAX_PROVEN) }
}
