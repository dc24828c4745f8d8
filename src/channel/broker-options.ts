/**
 * What a member needs to know of its broker and to say there.
 *
 * @module
 */
import { type ChannelId, type HolderId } from '../core/ids.ts'
import { type Random } from '../core/time.ts'
import { type Address } from './address.ts'
import { type BrokerPlace } from './broker-address.ts'
import { type RelayState } from './node/relay-state.ts'
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
  /** Of an initiator: the only peer it wants. */
  readonly wants?: HolderId | undefined
  readonly random: Random
  /** Told what goes on, for people. */
  readonly onState: (state: BrokerState | RelayState) => void
}

export function usesWebSocket({ broker, relay }: Pick<BrokerOptions, 'broker' | 'relay'>): boolean {
  return [...broker, ...relay].some(({ transport }) => transport !== 'tcp')
}
