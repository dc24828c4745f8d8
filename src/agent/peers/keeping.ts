/**
 * Remembers a peer under a name.
 *
 * Holds: one serving side is one peer, however often it is joined; and what was redeemed is kept under some name, also
 * when the one that was wished for was taken meanwhile.
 *
 * @module
 */
import { parseTicket } from '../../channel/index.ts'
import { type HolderId } from '../../core/ids.ts'
import { MAX_PROVEN, type Peer } from './peer.ts'
import { defaultNames, type PeerName } from './peer-name.ts'
import { nameTaken, type PeerStore } from './peer-store.ts'

/** What makes a peer another one. */
export interface Identity {
  /** The serving member. */
  readonly holder: HolderId
  /** The key of this agent that is a member there; none where a ticket is all. */
  readonly member: HolderId | undefined
}

export function identityOf(peer: Peer): Identity {
  return peer.kind === 'ticket'
    ? { holder: parseTicket(peer.ticket).holder, member: undefined }
    : { holder: peer.holder, member: peer.grant.body.holder }
}

/** @throws {CtError} `ERR_PEER_NAME_TAKEN` when another peer has the name, `ERR_STATE_UNAVAILABLE` */
export function refuseTaken(store: PeerStore, identity: Identity, name: PeerName | undefined): void {
  const there = name === undefined ? undefined : store.find(name)
  if (name !== undefined && there !== undefined && !mayReplace(there, identity)) throw nameTaken(name)
}

export interface Kept<Some extends Peer> {
  readonly name: PeerName
  readonly peer: Some
}

/**
 * In place of what was known of it, or anew.
 *
 * @param wished its name from now on
 * @throws {CtError} `ERR_PEER_NAME_TAKEN`, `ERR_STATE_UNAVAILABLE`
 */
export function keepPeer<Some extends Peer>(store: PeerStore, peer: Some, wished: PeerName | undefined): Kept<Some> {
  const identity = identityOf(peer)
  const earlier = store.search((other): other is Peer => isSame(identityOf(other), identity))?.name
  if (earlier !== undefined && replace(store, earlier, peer)) {
    return { name: wished === undefined ? earlier : move(store, earlier, wished, identity), peer }
  }
  const defaults = defaultNames(identity.holder)
  const name = [...(wished === undefined ? [] : [wished]), ...defaults].find(
    (candidate) => store.add(candidate, peer) || replace(store, candidate, peer),
  )
  if (name === undefined) throw nameTaken(wished ?? defaults[0])
  return { name, peer }
}

/** False when the name is that of another, or of none. */
function replace(store: PeerStore, name: PeerName, peer: Peer): boolean {
  const identity = identityOf(peer)
  const after = store.change(name, (other) => {
    if (!mayReplace(other, identity)) return other
    return { ...peer, proven: [...peer.proven, ...other.proven].slice(0, MAX_PROVEN) }
  })
  return after !== undefined && isSame(identityOf(after), identity)
}

function move(store: PeerStore, from: PeerName, to: PeerName, identity: Identity): PeerName {
  const there = from === to ? undefined : store.find(to)
  if (there !== undefined && mayReplace(there, identity)) store.forget(to)
  store.rename(from, to)
  return to
}

/** A membership is more than a ticket for the same serving side. */
function mayReplace(there: Peer, identity: Identity): boolean {
  const { holder, member } = identityOf(there)
  return holder === identity.holder && (member === undefined || member === identity.member)
}

function isSame(one: Identity, other: Identity): boolean {
  return one.holder === other.holder && one.member === other.member
}
