/**
 * Whom `ct-agent serve` admits, and the ticket that it gives out for it.
 *
 * @module
 */
import {
  type Address,
  type BrokerOptions,
  type BrokerPlace,
  type Credentials,
  reachableBeside,
  type SelfDescription,
  type Ticket,
  type TrustPolicy,
} from '../../channel/index.ts'
import { stapling } from '../../channel/membership/index.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type Env, type EnvProblem, type EnvValues, missing, readEnv } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { holderKey, type SecretKey } from '../../core/keys.ts'
import { SECONDS_PER_DAY } from '../../core/time.ts'
import { saturatingAdd, type UnixSeconds, u64, unixSeconds } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { BrokerNotices } from '../direct/broker-notices.ts'
import { readFrontDoor, waysTo } from '../front-door.ts'
import { type ChannelValues, pinsOf } from '../member.ts'
import { ROSTER_ENV } from '../members/member-settings.ts'
import { type Operator, watchOperator } from '../members/operator-keys.ts'
import { Reception, type ReceptionDeps } from '../members/reception.ts'
import { type Roster } from '../members/roster.ts'
import { loadChannel, loadSecret, renewSecret } from '../state.ts'
import { type OwnChannel, openOwnChannel } from './own-channel.ts'
import { TICKET_GRANT_ENV } from './ticket-settings.ts'

const GIVEN_ENV = {
  broker: BROKERED_ENV.broker,
  relayOnly: BROKERED_ENV.relayOnly,
  ...TICKET_GRANT_ENV,
  ...ROSTER_ENV,
}

export interface GivenValues extends Omit<EnvValues<typeof GIVEN_ENV>, 'broker'> {
  /** All ways to the broker, for the ticket. */
  readonly broker: readonly BrokerPlace[] | undefined
  /** Those that this side takes. */
  readonly ways: readonly BrokerPlace[]
}

export interface GivenTicket {
  readonly self: SelfDescription
  readonly trust: TrustPolicy
  readonly listen: readonly Address[]
  readonly broker?: BrokerOptions
  /** With a broker: who comes in, as what. */
  readonly reception?: Reception
  /** @param found where this side listens */
  readonly ticketAt: (found: readonly Address[]) => Ticket
}

/** What a ticket is made of. */
interface Parts {
  readonly values: ChannelValues
  readonly given: GivenValues
  readonly self: SelfDescription
  readonly audit?: ReceptionDeps['audit']
}

export function readGiven(env: Env, problems: EnvProblem[]): GivenValues {
  const { broker, ...values } = readEnv(GIVEN_ENV, env, problems)
  const door = readFrontDoor(env, problems)
  const isMalformed = problems.some(({ name }) => name === GIVEN_ENV.broker.name)
  const needsBroker = values.relayOnly || values.membersOnly
  const hasBroker = broker !== undefined || door.places.length > 0
  if (needsBroker && !hasBroker && !isMalformed) problems.push(missing(GIVEN_ENV.broker))
  if (!hasBroker) return { ...values, broker: undefined, ways: [] }
  // Others may get to the broker by ways that are closed to this side.
  return { ...values, broker: waysTo(broker ?? [], { ...door, only: false }), ways: waysTo(broker ?? [], door) }
}

/** Whoever starts it with a ticket in mind should not look for one in vain. @throws {CtError} `ERR_USAGE` */
export function refuseTicketOfMembers({ membersOnly }: GivenValues, { switches, values }: Context): void {
  if (!membersOnly) return
  const asked = switches.has('new-ticket') ? 'new-ticket' : values.has('ticket-file') ? 'ticket-file' : undefined
  if (asked === undefined) return
  throw new CtError(
    'ERR_USAGE',
    `expected either --${asked} or ${ROSTER_ENV.membersOnly.name}, which gives out no ticket`,
  )
}

/** @param roster of the members; needed with a broker */
export function giveTicket(context: Context, parts: Parts, roster?: Roster): GivenTicket {
  const { values, given, self } = parts
  const { broker } = given
  if (broker !== undefined && roster !== undefined) {
    return giveBrokered(context, parts, { places: broker, roster })
  }
  const { advertise, listen } = values
  const pins = pinsOf(values)
  const secret = pins === undefined ? ticketSecret(context) : undefined
  return {
    self,
    listen,
    trust: pins ?? { ...(secret === undefined ? {} : { ticketSecret: secret }) },
    ticketAt: (found) => ({
      holder: self.holder.id,
      addresses: advertise ?? found,
      ...(secret === undefined ? {} : { secret }),
    }),
  }
}

/** Members of a channel of its own; where keys are pinned as well, both is needed. */
function giveBrokered(
  context: Context,
  { values, given: { relayOnly, days, grantDays, membersOnly, ways }, self, audit }: Parts,
  { places, roster }: { readonly places: readonly BrokerPlace[]; readonly roster: Roster },
): GivenTicket {
  const { io, clock, random, stateDir, log } = context
  const { advertise } = values
  const secret = ticketSecret(context)
  const invited = holderKey(secret).id
  const keys = watchOperator(stateDir)
  const channel = loadChannel(stateDir)
  const reception = new Reception({
    roster,
    operator: keys,
    channel,
    bearer: membersOnly ? undefined : invited,
    grantSeconds: u64(grantDays * SECONDS_PER_DAY),
    clock,
    log,
    audit,
  })
  const expiresAt = endOf(unixSeconds(clock), days)
  const openFor = ({ signer, first }: Operator): OwnChannel =>
    openOwnChannel({ operator: signer, first, channel, self, invited, expiresAt, door: reception })
  const { successions } = keys.current()
  const { operator, trust, grant } = openFor(keys.current())
  const shownBy = (signed: Operator): (() => Credentials) => {
    const { credentials } = openFor(signed)
    // For callers that the broker could not tell for long whether this side was removed.
    const staple = stapling({ channel, holder: self.holder.id }, signed.signer.secret, clock)
    return () => ({ ...credentials, staple: staple() })
  }
  const notices = new BrokerNotices(io, 'accept', 'ct-agent')
  return {
    reception,
    self: { ...self, credentials: sinceChange(keys.current, shownBy), successions },
    listen: relayOnly ? [] : values.listen,
    trust: { ...pinsOf(values), channel: trust },
    broker: {
      broker: ways,
      relay: [],
      operator,
      channel,
      advertise,
      relayOnly,
      random,
      onState: (state) => notices.tell(state),
    },
    ticketAt: (found) => ({
      holder: self.holder.id,
      addresses: relayOnly ? [] : (advertise ?? found.filter((address) => isReachableBeside(places, address))),
      secret,
      rendezvous: { broker: places, operator, grant, ...(successions.length === 0 ? {} : { successions }) },
    }),
  }
}

/** What the thing yields that was made of the key as it is now. */
function sinceChange<Result>(current: () => Operator, make: (operator: Operator) => () => Result): () => Result {
  let made = current()
  let ask = make(made)
  return () => {
    if (current() !== made) {
      made = current()
      ask = make(made)
    }
    return ask()
  }
}

function endOf(now: UnixSeconds, days: number): UnixSeconds {
  return saturatingAdd(now, u64(days * SECONDS_PER_DAY))
}

/** Whoever gets to the broker might get there. */
function isReachableBeside(places: readonly BrokerPlace[], address: Address): boolean {
  return places.some(({ host }) => reachableBeside([address], host).length > 0)
}

function ticketSecret({ stateDir, switches }: Context): SecretKey {
  return switches.has('new-ticket') ? renewSecret(stateDir, 'ticket.secret') : loadSecret(stateDir, 'ticket.secret')
}
