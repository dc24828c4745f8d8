/**
 * The acceptor's place at its broker and at the relay: joined, reserved, and said where it may be dialled.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type Address } from '../address.ts'
import { type BrokerOptions, canPunch } from '../broker-options.ts'
import { BrokerLink } from '../dialling/broker-link.ts'
import { reachableBeside } from '../dialling/ladder.ts'
import { type KnownRevocations } from '../membership/known-revocations.ts'
import { holdReservation } from '../node/relaying.ts'
import { addressOf } from '../node/transport-address.ts'
import { Seat } from '../rendezvous/client.ts'
import { MAX_ADDRESSES } from '../rendezvous/fields.ts'
import { type SelfDescription } from '../session/self.ts'
import { type DoorSetting, MeetingDoor } from './meeting-door.ts'

export interface SeatSetting extends DoorSetting {
  readonly self: SelfDescription
  readonly revocations: KnownRevocations
  /** Where this member listens. */
  readonly addresses: readonly Address[]
  /** The broker refused this member in a way that trying again does not mend. */
  readonly onRefused: (reason: CtError) => void
}

export interface BrokerSeat {
  /** Callers that come through the relay can be met directly from now on. */
  readonly begun: Promise<void>
  /** Of the places of this member, how many are taken. */
  readonly tell: (taken: number, places: number) => void
  readonly leave: () => Promise<void>
}

export function takeSeat(setting: SeatSetting): BrokerSeat {
  const { node, self, clock, broker, revocations, addresses, onRefused } = setting
  const { operator, channel, random, onState } = broker
  const { reservations } = node
  const { credentials } = self
  if (reservations === undefined || credentials === undefined) {
    throw new TypeError('expected a brokered node and the credentials of a member')
  }
  const punches = canPunch(broker)
  const link = new BrokerLink(node, broker.broker, clock, punches ? random : undefined)
  const door = new MeetingDoor(setting, link)
  const relay = broker.relay.length === 0 ? link : new BrokerLink(node, broker.relay, clock)
  const seat = new Seat({
    link,
    revocations,
    clock,
    random,
    onState: (state) => {
      if (state.kind === 'joined') door.seen = state.observed
      onState(state)
    },
    onPeer: (peer) => door.learn(peer),
    join: ({ remoteAddr }) => ({
      kind: 'join',
      operator,
      channel,
      side: 'accept',
      credentials: credentials(),
      addresses: namedAddresses(broker, addresses, addressOf(remoteAddr)?.host ?? 'broker'),
    }),
    // A broker gives places at its relay to those that have joined.
    onSeated: (signal) => {
      const connect = (stop: AbortSignal) => relay.connect(stop)
      void holdReservation({ reservations, connect, signal, clock, random, onState })
    },
  })
  void seat.refused.then(onRefused)
  return {
    begun: punches ? door.open() : Promise.resolve(),
    tell: (taken, places) => seat.tell(taken, places),
    leave: () => seat.leave(),
  }
}

/** What was given; else where it listens, as far as somebody beside the broker could get there. */
function namedAddresses(
  { advertise, relayOnly }: BrokerOptions,
  addresses: readonly Address[],
  via: string,
): readonly Address[] {
  if (relayOnly) return []
  return (advertise ?? reachableBeside(addresses, via)).slice(0, MAX_ADDRESSES)
}
