/**
 * Opens sessions to serving members, directly or through a broker.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { type BrokerOptions, usesWebSocket } from '../broker-options.ts'
import { createNode, stopNode } from '../node/node.ts'
import { type SelfDescription } from '../session/self.ts'
import { type Session } from '../session/session.ts'
import { expel } from '../session/session-end.ts'
import { climb } from './climb.ts'
import { planRungs } from './ladder.ts'
import { type Opener, openSession, type Target } from './opening.ts'

export interface Dialler {
  /**
   * Connects; messages may be sent at once, before the peer has admitted us, but none leaves before the peer is known:
   * of a channel only when its hello was checked. A refusal ends the session.
   *
   * @throws {CtError} `ERR_PEER_UNREACHABLE`, `ERR_PEER_KEY_MISMATCH`, `ERR_PROTOCOL`, or why the broker refused
   */
  readonly open: (target: Target, signal: AbortSignal) => Promise<Session>
  /** Ends at once all sessions to this member, and to those whose membership rests on it. */
  readonly expel: (holder: HolderId, reason: CtError) => void
  readonly close: () => Promise<void>
}

/** Peers one process calls at once. */
const MAX_SESSIONS = 1_024

export async function createDialler(self: SelfDescription, clock: Clock, broker?: BrokerOptions): Promise<Dialler> {
  const node = await createNode({
    holder: self.holder,
    noise: self.noise,
    listen: [],
    maxSessions: MAX_SESSIONS,
    brokered: broker && { webSocket: usesWebSocket(broker) },
  })
  await node.libp2p.start()
  const opener: Opener = { node, self, clock }
  const open = broker === undefined ? openDirect : await loadBrokered(opener, broker)
  const sessions = new Set<Session>()
  return {
    open: async (target, signal) => {
      checkTarget(target, self)
      const session = await open(opener, target, signal)
      sessions.add(session)
      void session.closed.then(() => sessions.delete(session))
      return session
    },
    expel: (holder, reason) => expel(sessions, holder, reason),
    close: () => stopNode(node.libp2p, clock),
  }
}

async function loadBrokered(opener: Opener, broker: BrokerOptions): Promise<typeof openDirect> {
  const { BrokeredDialling } = await import('./brokered-dial.ts')
  const dialling = new BrokeredDialling(opener, broker)
  return (_, target, signal) => dialling.open(target, signal)
}

function checkTarget({ trust: { holders, noiseKeys, channel } }: Target, self: SelfDescription): void {
  if (holders === undefined && noiseKeys === undefined && channel === undefined) {
    throw new TypeError('expected a pinned key or a channel, found none')
  }
  if (holders?.size === 1 && holders.has(self.holder.id)) {
    throw new CtError('ERR_PEER_KEY_MISMATCH', 'expected the key of a peer, found the own key of this member')
  }
}

async function openDirect(opener: Opener, target: Target, signal: AbortSignal): Promise<Session> {
  const rungs = planRungs({ addresses: target.addresses, relay: false })
  const { connection } = await climb({ opener, target, rungs }, signal)
  return openSession(opener, connection, target, signal)
}
