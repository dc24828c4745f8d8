/**
 * What a member needs to know of its broker and to say there.
 *
 * @module
 */
import { type ChannelId, type HolderId } from '../core/ids.ts'
import { type Random } from '../core/time.ts'
import { type Address } from './address.ts'
import { type BrokerPlace } from './broker-address.ts'
import { type KnownRevocations } from './membership/known-revocations.ts'
import { type RelayState } from './node/relay-state.ts'
import { type WebSocketTrust } from './node/web-socket.ts'
import { type BrokerState } from './rendezvous/broker-state.ts'

export interface BrokerOptions {
  /** Where the broker is, best first. */
  readonly broker: readonly BrokerPlace[]
  /** Where the relay is; the broker is one unless there is another. */
  readonly relay: readonly BrokerPlace[]
  readonly operator: HolderId
  readonly channel: ChannelId
  /** Where an acceptor may be dialled; without it, where it listens. */
  readonly advertise?: readonly Address[] | undefined
  /** An acceptor is reached through the relay alone. */
  readonly relayOnly: boolean
  /** Sessions may leave the relay for a hole that both sides punch; unless set, where not reached through it alone. */
  readonly punches?: boolean | undefined
  /** Of an initiator: the only peer it wants. */
  readonly wants?: HolderId | undefined
  /** Whom the operator removed, as far as this member knows; without it, as far as the broker says. */
  readonly revocations?: KnownRevocations | undefined
  readonly random: Random
  /** Told what goes on, for people. */
  readonly onState: (state: BrokerState | RelayState) => void
}

export function canPunch({ punches, relayOnly }: Pick<BrokerOptions, 'punches' | 'relayOnly'>): boolean {
  return punches ?? !relayOnly
}

/** What it takes to get to a broker by WebSocket; false where no way is one. */
export function webSocketTo({ broker, relay }: Pick<BrokerOptions, 'broker' | 'relay'>): WebSocketTrust | false {
  const places = [...broker, ...relay].filter(({ transport }) => transport !== 'tcp')
  if (places.length === 0) return false
  return { certificates: [...new Set(places.flatMap(({ certificates }) => certificates ?? []))] }
}
