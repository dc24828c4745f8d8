/**
 * Whom `ct-agent serve` admits, and the ticket that it gives out for it.
 *
 * @module
 */
import {
  type Address,
  type BrokerOptions,
  type BrokerPlace,
  reachableBeside,
  type SelfDescription,
  type Ticket,
  type TrustPolicy,
} from '../../channel/index.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type Env, type EnvProblem, type EnvValues, missing, readEnv } from '../../core/env.ts'
import { type SecretKey } from '../../core/keys.ts'
import { saturatingAdd, type UnixSeconds, u64, unixSeconds } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { BrokerNotices } from '../direct/broker-notices.ts'
import { type ChannelValues, pinsOf } from '../member.ts'
import { loadChannel, loadSecret, renewSecret } from '../state.ts'
import { openOwnChannel } from './own-channel.ts'
import { TICKET_GRANT_ENV } from './ticket-settings.ts'

const GIVEN_ENV = { broker: BROKERED_ENV.broker, relayOnly: BROKERED_ENV.relayOnly, ...TICKET_GRANT_ENV }

export type GivenValues = EnvValues<typeof GIVEN_ENV>

export interface GivenTicket {
  readonly self: SelfDescription
  readonly trust: TrustPolicy
  readonly listen: readonly Address[]
  readonly broker?: BrokerOptions
  /** @param found where this side listens */
  readonly ticketAt: (found: readonly Address[]) => Ticket
}

/** What a ticket is made of. */
interface Parts {
  readonly values: ChannelValues
  readonly given: GivenValues
  readonly self: SelfDescription
}

const SECONDS_PER_DAY = 86_400

export function readGiven(env: Env, problems: EnvProblem[]): GivenValues {
  const values = readEnv(GIVEN_ENV, env, problems)
  const isMalformed = problems.some(({ name }) => name === GIVEN_ENV.broker.name)
  if (values.relayOnly && values.broker === undefined && !isMalformed) problems.push(missing(GIVEN_ENV.broker))
  return values
}

export function giveTicket(context: Context, { values, given, self }: Parts): GivenTicket {
  const { broker } = given
  if (broker !== undefined) return giveBrokered(context, { values, given, self }, broker)
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
  { values, given: { relayOnly, days }, self }: Parts,
  places: readonly BrokerPlace[],
): GivenTicket {
  const { io, clock, random, stateDir } = context
  const { advertise } = values
  const secret = ticketSecret(context)
  const { operator, channel, credentials, trust, grant } = openOwnChannel({
    operator: loadSecret(stateDir, 'operator.key'),
    channel: loadChannel(stateDir),
    self,
    ticketSecret: secret,
    expiresAt: endOf(unixSeconds(clock), days),
  })
  const notices = new BrokerNotices(io, 'accept', 'ct-agent')
  return {
    self: { ...self, credentials: () => credentials },
    listen: relayOnly ? [] : values.listen,
    trust: { ...pinsOf(values), channel: trust },
    broker: {
      broker: places,
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
      rendezvous: { broker: places, operator, grant },
    }),
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
