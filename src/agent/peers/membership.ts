/**
 * The membership of this agent at one peer, in this process and in the file of the peer.
 *
 * Holds: what is shown to the peer and the broker is the newest that is known; what comes new is checked, then kept
 * before anything rests on it.
 *
 * @module
 */
import { type Address, type Credentials, type SelfDescription } from '../../channel/index.ts'
import { attestNoiseKey, type SignedSuccession } from '../../channel/membership/index.ts'
import { type CtError } from '../../core/errors.ts'
import { type Signature } from '../../core/ids.ts'
import { saturatingAdd, type UnixSeconds, u64 } from '../../core/u64.ts'
import { type MembershipDocument } from '../members/membership-document.ts'
import { checkMembership } from './membership-check.ts'
import { isSignedBy, lineOf } from './operator-line.ts'
import { type MemberPeer, type Peer, withProven } from './peer.ts'
import { type PeerName } from './peer-name.ts'
import { type PeerStore } from './peer-store.ts'

export class Membership {
  readonly name: PeerName
  readonly #store: PeerStore
  #peer: MemberPeer
  /** The last that was worth a try after an earlier one had come to its end. */
  #tried: Signature

  constructor(store: PeerStore, name: PeerName, peer: MemberPeer) {
    this.#store = store
    this.name = name
    this.#peer = peer
    this.#tried = peer.grant.signature
  }

  get peer(): MemberPeer {
    return this.#peer
  }

  /** What this member shows, asked at every session: a renewal while the process runs reaches the next one. */
  credentials(self: Pick<SelfDescription, 'holder' | 'noise'>): () => Credentials {
    const attestation = attestNoiseKey(this.#peer.grant.body.channel, self)
    return () => ({ grants: [this.#peer.grant], attestation, staple: this.#peer.staple })
  }

  /** A session ended with its grant, and there is a newer one: true once for each. */
  mayRetry({ code }: CtError): boolean {
    const { signature } = this.#peer.grant
    if (code !== 'ERR_GRANT_EXPIRED' || signature === this.#tried) return false
    this.#tried = signature
    return true
  }

  /** Takes what another process renewed meanwhile. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
  refresh(): void {
    this.#keep((peer) => peer)
  }

  /** Takes the peer's word for a renewal. @throws {CtError} as `checkMembership`; `ERR_STATE_UNAVAILABLE` */
  renew({ grant, staple, name, successions = [] }: MembershipDocument, now: UnixSeconds): void {
    const { operator, grant: before } = this.#peer
    const { standing } = lineOf(this.#peer, now, successions)
    checkMembership({ grant, staple, name }, { operator, operators: standing, now, ...before.body })
    this.#keep((peer) => ({ ...following(peer, now, successions), grant, staple, renewedAt: now, knownAs: name }))
  }

  /** Keys that took over from the operator's, as the peer showed them. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
  follow(shown: readonly SignedSuccession[], now: UnixSeconds): void {
    const known = this.#peer.successions.length
    if (lineOf(this.#peer, now, shown).successions.length > known) this.#keep((peer) => following(peer, now, shown))
  }

  /** The peer proved its keys at this address. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
  proved(address: Address): void {
    this.#keep((peer) => withProven(peer, address))
  }

  /** Another process may have changed the file; what it says then is what holds. */
  #keep(change: (peer: MemberPeer) => MemberPeer): void {
    const own = this.#peer
    this.#peer = change(own)
    const kept = this.#store.change(this.name, (peer) => (isSameMember(peer, own) ? change(peer) : peer))
    if (kept !== undefined && isSameMember(kept, own)) this.#peer = kept
  }
}

function following(peer: MemberPeer, now: UnixSeconds, shown: readonly SignedSuccession[]): MemberPeer {
  return { ...peer, successions: lineOf(peer, now, shown).successions }
}

function isSameMember(peer: Peer, { holder, grant }: MemberPeer): peer is MemberPeer {
  if (peer.kind !== 'member' || peer.holder !== holder) return false
  return peer.grant.body.holder === grant.body.holder && peer.grant.body.channel === grant.body.channel
}

/**
 * When half of what the grant, or the staple, had left when it came is over; at once when a key signed the grant that
 * another has taken over from.
 */
export function renewalDue(peer: MemberPeer): UnixSeconds {
  const { grant, staple, renewedAt, successions } = peer
  const newest = successions.at(-1)?.body.to
  if (newest !== undefined && !isSignedBy(peer, [newest])) return renewedAt
  const { stapledAt, expiresAt } = staple.body
  // Lives, not ends: the operator's clock need not be this one.
  const lives = [Number(grant.body.expiresAt - renewedAt), Number(expiresAt - stapledAt)]
  const shortest = Math.min(...lives, Number.MAX_SAFE_INTEGER)
  return saturatingAdd(renewedAt, u64(Math.max(0, Math.floor(shortest / 2))))
}
