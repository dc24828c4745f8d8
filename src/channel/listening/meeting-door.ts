/**
 * Where callers that came through the relay arrange to be met directly.
 *
 * Holds: only callers that were admitted on the very connection are heard; what the broker says of where members are is
 * remembered of the last {@link MAX_KNOWN} alone.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { type HolderId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { type Address } from '../address.ts'
import { type BrokerOptions } from '../broker-options.ts'
import { type BrokerLink } from '../dialling/broker-link.ts'
import { reachableBeside } from '../dialling/ladder.ts'
import { type ChannelNode } from '../node/node.ts'
import { addressOf } from '../node/transport-address.ts'
import { PUNCH_PROTOCOL } from '../punching/messages.ts'
import { type Peer } from '../rendezvous/messages.ts'

/** Callers whose hosts are remembered. */
const MAX_KNOWN = 1_024

export interface DoorSetting {
  readonly node: ChannelNode
  readonly clock: Clock
  readonly broker: BrokerOptions
  /** Whom this side has admitted on the connection. */
  readonly admittedOn: (connection: Connection) => HolderId | undefined
  /** This side has dialled a caller, which has still to open its session. */
  readonly onDialled: (connection: Connection) => void
}

export class MeetingDoor {
  /** Where the broker sees this member. */
  seen: Address | undefined
  readonly #setting: DoorSetting
  readonly #link: BrokerLink
  readonly #hosts = new Map<HolderId, ReadonlySet<string>>()

  constructor(setting: DoorSetting, link: BrokerLink) {
    this.#setting = setting
    this.#link = link
  }

  /** The broker named a caller. */
  learn({ holder, addresses }: Peer): void {
    const { current } = this.#link
    const via = (current && addressOf(current.remoteAddr)?.host) ?? 'broker'
    const hosts = reachableBeside(addresses, via).map(({ host }) => host)
    this.#hosts.delete(holder)
    this.#hosts.set(holder, new Set(hosts))
    const [oldest] = this.#hosts.keys()
    if (this.#hosts.size > MAX_KNOWN && oldest !== undefined) this.#hosts.delete(oldest)
  }

  async open(): Promise<void> {
    const { node, clock, broker, admittedOn, onDialled } = this.#setting
    const [{ Answerer }, { ownNetworks }] = await Promise.all([
      import('../punching/answer.ts'),
      import('../punching/neighbours.ts'),
    ])
    const answerer = new Answerer({
      node,
      networks: ownNetworks,
      at: () => broker.advertise ?? node.addresses(),
      seen: () => ({ seen: this.seen, localPort: this.#localPort() }),
      hostsOf: (holder) => this.#hosts.get(holder) ?? NO_HOSTS,
      onDialled,
      clock,
      random: broker.random,
    })
    await node.libp2p.handle(
      PUNCH_PROTOCOL,
      (stream, connection) => {
        const caller = admittedOn(connection)
        if (caller === undefined) stream.abort(new Error('expected a caller that was admitted'))
        else void answerer.answer(stream, caller)
      },
      { maxInboundStreams: 1, runOnLimitedConnection: true },
    )
  }

  #localPort(): number | undefined {
    const { current } = this.#link
    return current && this.#link.portOf(current)
  }
}

const NO_HOSTS: ReadonlySet<string> = new Set()
