/**
 * Makes a peer of a ticket: redeems an invitation, or keeps the ticket of whom it leads to by itself.
 *
 * Holds: an invitation is redeemed for a key that is kept already, and the serving side gives that key its membership
 * again, so that nothing is lost when this process ends between the two. A name that is taken is found before the
 * invitation is used up.
 *
 * @module
 */
import { type Address, parseTicket, type Rendezvous, type SelfDescription, type Ticket } from '../../channel/index.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { holderKey, type SecretKey } from '../../core/keys.ts'
import { pause } from '../../core/time.ts'
import { unixSeconds } from '../../core/u64.ts'
import { withCaller } from '../calling/one-call.ts'
import { type CallSettings, callerOptions, describeCaller, type PeerWay, ticketWay } from '../calling/peer-way.ts'
import { type Context } from '../command.ts'
import { type MembershipDocument } from '../members/membership-document.ts'
import { keepPeer, refuseTaken } from './keeping.ts'
import { type MemberPeer, type Peer, withProven } from './peer.ts'
import { type PeerName } from './peer-name.ts'
import { type NamedPeer, type PeerStore } from './peer-store.ts'
import { redeem } from './redemption.ts'

export interface JoinWishes {
  /** What this agent calls the peer. */
  readonly name?: PeerName | undefined
  /** What the peer is asked to call this agent. */
  readonly as?: string | undefined
}

export interface Joined<Some extends Peer = Peer> extends NamedPeer<Some> {
  /** The ticket was redeemed before: nobody was asked. */
  readonly isKnown: boolean
}

/** A ticket that is an invitation. */
export interface Invited extends Ticket {
  readonly secret: SecretKey
  readonly rendezvous: Rendezvous
}

/** Redeeming again is safe, and a new session needs a new challenge. */
const MAX_TRIES = 3
const RETRY_MS = 200

export function isInvitation(ticket: Ticket): ticket is Invited {
  return ticket.secret !== undefined && ticket.rendezvous?.isInvitation === true
}

/** @throws {CtError} `ERR_TICKET_INVALID`, `ERR_PEER_NAME_TAKEN`, `ERR_STATE_UNAVAILABLE`, and what a call ends in */
export async function joinByTicket(
  context: Context,
  settings: CallSettings,
  { text, store }: { readonly text: string; readonly store: PeerStore },
  wishes: JoinWishes,
): Promise<Joined> {
  const ticket = parseTicket(text)
  if (isInvitation(ticket)) return joinByInvitation(context, settings, { ticket, store }, wishes)
  const self = describeCaller(context, settings, ticket.holder, ticket.secret !== undefined)
  // What is in it has to belong together, whoever is asked later.
  ticketWay(ticket, self, unixSeconds(context.clock))
  refuseTaken(store, { holder: ticket.holder, member: undefined }, wishes.name)
  const peer = { kind: 'ticket', ticket: text.replace(/\s+/g, '').toLowerCase(), proven: [] } as const
  return { ...keepPeer(store, peer, wishes.name), isKnown: false }
}

/** @throws {CtError} as `joinByTicket` */
export async function joinByInvitation(
  context: Context,
  settings: CallSettings,
  { ticket, store }: { readonly ticket: Invited; readonly store: PeerStore },
  { name, as }: JoinWishes,
): Promise<Joined<MemberPeer>> {
  const now = unixSeconds(context.clock)
  const self = describeCaller(context, settings, ticket.holder, true)
  const known = findInvited(store, ticket, self)
  if (known !== undefined && known.peer.grant.body.expiresAt > now) {
    return { ...keepPeer(store, known.peer, name), isKnown: true }
  }
  refuseTaken(store, { holder: ticket.holder, member: self.holder.id }, name)
  const peer = await becomeMember(context, settings, { ticket, way: ticketWay(ticket, self, now), as }).catch(
    (error: unknown) => {
      throw takenBack(error)
    },
  )
  return { ...keepPeer(store, peer, name), isKnown: false }
}

/** Who is not a member yet cannot have been removed: it is the key of the invitation that was. */
function takenBack(error: unknown): unknown {
  if (!isCtError(error, 'ERR_MEMBER_REMOVED')) return error
  return new CtError('ERR_INVITATION_REVOKED', 'the invitation was taken back', { cause: error })
}

/** The peer that this invitation, redeemed for this key, led to. */
function findInvited(store: PeerStore, { secret }: Invited, self: SelfDescription): NamedPeer<MemberPeer> | undefined {
  const invited = holderKey(secret).id
  return store.search(
    (peer): peer is MemberPeer =>
      peer.kind === 'member' && peer.invited === invited && peer.grant.body.holder === self.holder.id,
  )
}

interface Redeeming {
  readonly ticket: Invited
  readonly way: PeerWay
  readonly as: string | undefined
}

async function becomeMember(
  context: Context,
  settings: CallSettings,
  { ticket, way, as }: Redeeming,
): Promise<MemberPeer> {
  const { holder, addresses, secret, rendezvous } = ticket
  const { operator, successions = [], broker } = rendezvous
  const { channel } = rendezvous.grant.body
  const proven: Address[] = []
  const options = callerOptions(context, way, { ...settings, reconnect: false }, (address) => proven.push(address))
  const wish = { operator, successions, channel, holder: way.self.holder.id, secret, as }
  const document = await insisting(context, () =>
    withCaller(context, options, (caller) => redeem(caller, wish, context.clock)),
  )
  const peer: MemberPeer = {
    kind: 'member',
    holder,
    addresses,
    proven: [],
    broker,
    operator,
    successions: document.successions ?? [],
    invited: holderKey(secret).id,
    grant: document.grant,
    staple: document.staple,
    renewedAt: unixSeconds(context.clock),
    knownAs: document.name,
  }
  return proven.reduce(withProven<MemberPeer>, peer)
}

/** Links break, and a challenge is good on one of them for a short time. */
async function insisting(
  { clock }: Pick<Context, 'clock'>,
  attempt: () => Promise<MembershipDocument>,
): Promise<MembershipDocument> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (tries === MAX_TRIES || !isCtError(error, 'ERR_CHALLENGE_INVALID', 'ERR_LINK_LOST', 'ERR_LINK_CLOSED'))
        throw error
    }
    await pause(clock, RETRY_MS)
  }
}
