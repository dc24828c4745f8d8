/**
 * How an invitation is made: a key of its own, what the operator says of it, and the ticket that holds the key's seed.
 *
 * Holds: the seed is in the ticket and nowhere else.
 *
 * @module
 */
import { type Address, type BrokerPlace, type Ticket } from '../../channel/index.ts'
import { GRANT, INVITATION } from '../../channel/membership/index.ts'
import { seal } from '../../core/artefact.ts'
import { CtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { holderKey, type SecretKey } from '../../core/keys.ts'
import { type Rights } from '../../core/rights.ts'
import { SECONDS_PER_DAY } from '../../core/time.ts'
import { saturatingAdd, type U64, type UnixSeconds, u64 } from '../../core/u64.ts'
import { type Operator } from './operator-keys.ts'
import { type InvitationRecord, MAX_INVITATIONS, type RosterPage } from './roster.ts'

/** What is asked of an invitation. */
export interface Wish {
  readonly uses: number
  readonly seconds: U64
  readonly rights: Rights
  readonly tools: readonly string[] | undefined
  readonly name: string | undefined
}

export interface Inviter {
  readonly operator: Operator
  readonly channel: ChannelId
  /** Of the serving agent. */
  readonly holder: HolderId
  readonly broker: readonly BrokerPlace[]
  readonly addresses: readonly Address[]
}

export interface MadeInvitation {
  readonly record: InvitationRecord
  readonly ticket: Ticket
}

/** @param seed of the invited key: a new one for every invitation */
export function makeInvitation(wish: Wish, inviter: Inviter, seed: SecretKey, now: UnixSeconds): MadeInvitation {
  const { uses, seconds, rights, tools, name } = wish
  const { operator, channel, holder, broker, addresses } = inviter
  const { first, signer, successions } = operator
  const invitee = holderKey(seed).id
  const all = { channel, direction: 'initiate', rights, expiresAt: saturatingAdd(now, seconds) } as const
  const sealed = seal(INVITATION, { ...all, invitee, delegable: false }, signer.secret)
  const grant = seal(GRANT, { ...all, holder: invitee, delegable: true }, signer.secret)
  return {
    record: { invitee, sealed, name, tools, uses, madeAt: now, revokedAt: undefined },
    ticket: {
      holder,
      addresses,
      secret: seed,
      rendezvous: {
        broker,
        operator: first,
        grant,
        isInvitation: true,
        ...(successions.length === 0 ? {} : { successions }),
      },
    },
  }
}

/** So long it can be seen what became of an invitation. */
const KEPT_AFTER_SECONDS = u64(30 * SECONDS_PER_DAY)

/** Keeps the invitation, at the cost of those that are long over. @throws {CtError} `ERR_USAGE` when too many are open */
export function keepInvitation(page: RosterPage, record: InvitationRecord, now: UnixSeconds): void {
  const known = page.invitations()
  const isOver = (kept: InvitationRecord, grace: U64): boolean =>
    now >= saturatingAdd(kept.sealed.body.expiresAt, grace)
  const room = MAX_INVITATIONS - 1
  const grace = known.filter((kept) => !isOver(kept, KEPT_AFTER_SECONDS)).length > room ? u64(0) : KEPT_AFTER_SECONDS
  for (const kept of known) if (isOver(kept, grace)) page.forgetInvitation(kept.invitee)
  if (page.invitations().length > room) {
    throw new CtError('ERR_USAGE', `expected at most ${MAX_INVITATIONS} invitations at a time; wait until some expire`)
  }
  page.addInvitation(record)
}
