/**
 * One round of the attempt to meet, from one side.
 *
 * Holds: when a round is over, nothing of it listens or dials; only the peer's own key makes a connection count, and
 * whoever else comes to a caller's port is let go.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { type HolderId } from '../../core/ids.ts'
import { type Clock, pause, type Random } from '../../core/time.ts'
import { type Address } from '../address.ts'
import { putAway } from '../dialling/put-away.ts'
import { type ChannelNode, peerIdOf } from '../node/node.ts'
import { ipMultiaddr } from '../node/transport-address.ts'
import { type Round, redialMs } from './plan.ts'

export interface Side {
  readonly node: Pick<ChannelNode, 'libp2p' | 'dial' | 'receiveAt' | 'punched'>
  readonly role: 'caller' | 'acceptor'
  readonly peer: HolderId
  /** This side's own port behind the one at which it is seen. */
  readonly localPort: number | undefined
  /** Where the peer is seen. */
  readonly to: Address | undefined
  readonly clock: Clock
  readonly random: Random
}

/** The connection that came of it on this side; nothing when the time is over, or the signal aborts. */
export async function runRound(round: Round, side: Side, signal: AbortSignal): Promise<Connection | undefined> {
  const over = new AbortController()
  const stop = AbortSignal.any([signal, over.signal])
  const ways = round === 'cross' ? [cross(side, stop)] : [receive(side, stop), dialTo(side, {}, stop)]
  try {
    const made = await firstOf(ways, side)
    if (made !== undefined) side.node.punched.add(made)
    return made
  } finally {
    over.abort()
  }
}

function cross(side: Side, stop: AbortSignal): Promise<Connection | undefined> {
  const { localPort, role } = side
  if (localPort === undefined) return Promise.resolve(undefined)
  return dialTo(side, { localPort, initiator: role === 'caller' }, stop)
}

/** Again and again: what turns the first away may be the very wall that this dial opens. */
async function dialTo(
  { node, to, peer, clock, random }: Side,
  how: { readonly localPort?: number; readonly initiator?: boolean },
  stop: AbortSignal,
): Promise<Connection | undefined> {
  if (to === undefined) return undefined
  const address = ipMultiaddr(to.host, to.port).encapsulate(`/p2p/${peerIdOf(peer).toString()}`)
  for (let attempt = 1; !stop.aborted; attempt += 1) {
    try {
      return await node.dial(address, stop, how)
    } catch {
      await pause(clock, redialMs(attempt, random()), stop)
    }
  }
  return undefined
}

/** What the peer dials; an acceptor takes it as it takes everybody. */
async function receive({ node, localPort, role, peer, to }: Side, stop: AbortSignal): Promise<Connection | undefined> {
  if (localPort === undefined) return undefined
  const arrived = Promise.withResolvers<Connection | undefined>()
  const onOpen = ({ detail }: CustomEvent<Connection>): void => {
    if (detail.direction !== 'inbound' || detail.remoteAddr.toString().includes('/p2p-circuit')) return
    if (detail.remotePeer.equals(peerIdOf(peer))) arrived.resolve(detail)
    else if (role === 'caller') detail.abort(new Error('expected another peer'))
  }
  node.libp2p.addEventListener('connection:open', onOpen)
  try {
    const close = await node.receiveAt({ host: to?.host.includes(':') === true ? '::' : '0.0.0.0', port: localPort })
    try {
      stop.addEventListener('abort', () => arrived.resolve(undefined), { once: true })
      if (stop.aborted) arrived.resolve(undefined)
      return await arrived.promise
    } finally {
      close()
    }
  } catch {
    // Another program took the port.
    return undefined
  } finally {
    node.libp2p.removeEventListener('connection:open', onOpen)
  }
}

/** The first connection; what comes of the other ways is let go. */
function firstOf(ways: readonly Promise<Connection | undefined>[], { role }: Side): Promise<Connection | undefined> {
  return new Promise((resolve) => {
    let open = ways.length
    let found: Connection | undefined
    for (const way of ways) {
      void way.then((connection) => {
        open -= 1
        if (connection !== undefined && found === undefined) {
          found = connection
          resolve(connection)
        } else if (connection !== found && role === 'caller') {
          if (connection !== undefined) putAway(connection)
        }
        if (open === 0) resolve(undefined)
      })
    }
  })
}
