/**
 * From what somebody typed, the name of a peer or a ticket, to the way there.
 *
 * Holds: an invitation that is given for the first time is redeemed before it is used, and is remembered; given again it
 * stands for the peer that it led to.
 *
 * @module
 */
import { type Address, parseTicket } from '../../channel/index.ts'
import { KnownRevocations } from '../../channel/membership/index.ts'
import { toCtError } from '../../core/errors.ts'
import { type Log } from '../../core/log.ts'
import { unixSeconds } from '../../core/u64.ts'
import { type CallSettings, describeCaller, type PeerWay, ticketWay } from '../calling/peer-way.ts'
import { type Context } from '../command.ts'
import { notice } from '../io.ts'
import { isInvitation, joinByInvitation } from './joining.ts'
import { memberWay } from './member-way.ts'
import { Membership } from './membership.ts'
import { type Peer, withProven } from './peer.ts'
import { looksLikeTicket, type PeerName, parsePeerName } from './peer-name.ts'
import { type NamedPeer, PeerStore } from './peer-store.ts'
import { keepRenewed, type Renewing, type RenewingCaller } from './renewing.ts'

export interface PeerAccess {
  readonly way: PeerWay
  /** What it is called here; none for a ticket that nobody joined. */
  readonly name: PeerName | undefined
  /** Remembers where the peer was reached without a relay; never throws. */
  readonly proved: (address: Address) => void
  /** Renews what this agent is there, for as long as the caller is used. */
  readonly keepRenewed: (caller: RenewingCaller) => Renewing
}

const NOTHING_TO_RENEW: Renewing = { stop: () => Promise.resolve() }

/**
 * @param given the name of a peer, or a ticket
 * @throws {CtError} `ERR_PEER_UNKNOWN`, `ERR_TICKET_INVALID`, `ERR_GRANT_EXPIRED`, and what redeeming ends in
 */
export async function accessPeer(context: Context, settings: CallSettings, given: string): Promise<PeerAccess> {
  const store = new PeerStore(context.stateDir)
  const name = looksLikeTicket(given) ? undefined : parsePeerName(given)
  if (name !== undefined && 'value' in name) {
    return accessKnown(context, settings, store, { name: name.value, peer: store.get(name.value) })
  }
  const ticket = parseTicket(given)
  if (isInvitation(ticket)) {
    const joined = await joinByInvitation(context, settings, { ticket, store }, {})
    if (!joined.isKnown) {
      notice(context.io, `ct-agent: joined, and remembered as ${joined.name}: the ticket is not needed again`)
    }
    return accessKnown(context, settings, store, joined)
  }
  const self = describeCaller(context, settings, ticket.holder, ticket.secret !== undefined)
  const way = ticketWay(ticket, self, unixSeconds(context.clock))
  return { way, name: undefined, proved: () => {}, keepRenewed: () => NOTHING_TO_RENEW }
}

function accessKnown(
  context: Context,
  settings: CallSettings,
  store: PeerStore,
  { name, peer }: NamedPeer,
): PeerAccess {
  const { clock, log } = context
  const now = unixSeconds(clock)
  if (peer.kind === 'ticket') {
    const ticket = parseTicket(peer.ticket)
    const self = describeCaller(context, settings, ticket.holder, ticket.secret !== undefined)
    return {
      way: ticketWay(ticket, self, now, peer.proven),
      name,
      proved: (address) => unlessUnwritable(log, () => store.change(name, (known: Peer) => withProven(known, address))),
      keepRenewed: () => NOTHING_TO_RENEW,
    }
  }
  const membership = new Membership(store, name, peer)
  const { operator, grant } = peer
  const revocations = new KnownRevocations({ operator, channel: grant.body.channel, clock })
  return {
    way: memberWay(membership, describeCaller(context, settings, peer.holder, true), now, revocations),
    name,
    proved: (address) => unlessUnwritable(log, () => membership.proved(address)),
    keepRenewed: (caller) => keepRenewed(caller, membership, { clock, log, shown: () => revocations.shown }),
  }
}

/** A call is not to fail because of what would make the next one faster. */
function unlessUnwritable(log: Log, keep: () => void): void {
  try {
    keep()
  } catch (error) {
    log.warn('peer.not_kept', { reason: toCtError(error).message })
  }
}
