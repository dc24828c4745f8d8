/**
 * Opens sessions to serving members, directly or through a broker.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { type BrokerOptions, webSocketTo } from '../broker-options.ts'
import { KnownRevocations } from '../membership/known-revocations.ts'
import { type ChannelNode, createNode, stopNode } from '../node/node.ts'
import { type SelfDescription } from '../session/self.ts'
import { type Session } from '../session/session.ts'
import { expel, expelRemoved } from '../session/session-end.ts'
import { climb, reach } from './climb.ts'
import { type Moves } from './going-direct.ts'
import { planRungs } from './ladder.ts'
import { type Opener, openSession, type Target } from './opening.ts'
import { Turn } from './turn.ts'

export interface Dialler {
  /**
   * Connects; messages may be sent at once, before the peer has admitted us, but none leaves before the peer is known:
   * of a channel only when its hello was checked. A refusal ends the session.
   *
   * @param moves for a caller that can go on over another session of this run: where this one goes through a relay, a
   * direct one is looked for as long as it lives
   * @throws {CtError} `ERR_PEER_UNREACHABLE`, `ERR_PEER_KEY_MISMATCH`, `ERR_PROTOCOL`, or why the broker refused
   */
  readonly open: (target: Target, signal: AbortSignal, moves?: Moves) => Promise<Session>
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
    brokered: broker && { webSocket: webSocketTo(broker) },
  })
  await node.libp2p.start()
  const revocations = broker && (broker.revocations ?? new KnownRevocations({ ...broker, clock }))
  revocations?.follow(self.successions ?? [])
  const opener: Opener = { node, self, clock, revocations }
  const open = broker === undefined ? openDirect : await loadBrokered(node, opener, broker)
  const sessions = new Set<Session>()
  const forget = revocations?.onNewer(() => expelRemoved(sessions, revocations.isRevoked))
  const keep = (session: Session): void => {
    sessions.add(session)
    void session.closed.then(() => sessions.delete(session))
  }
  const keeping = (moves: Moves): Moves => ({
    ...moves,
    onBetter: (session) => {
      keep(session)
      moves.onBetter(session)
    },
  })
  return {
    open: async (target, signal, moves) => {
      checkTarget(target, self)
      const session = await open(opener, target, signal, moves && keeping(moves))
      keep(session)
      return session
    },
    expel: (holder, reason) => expel(sessions, holder, reason),
    close: () => {
      forget?.()
      return stopNode(node.libp2p, clock)
    },
  }
}

type Open = (opener: Opener, target: Target, signal: AbortSignal, moves?: Moves) => Promise<Session>

async function loadBrokered(node: ChannelNode, opener: Opener, broker: BrokerOptions): Promise<Open> {
  const { BrokeredDialling } = await import('./brokered-dial.ts')
  const dialling = new BrokeredDialling(node, opener, broker)
  return (_, target, signal, moves) => dialling.open(target, signal, moves)
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
  const plan = { opener, target, rungs }
  if (rungs.length > 1) return (await climb(plan, new Turn(opener.clock), signal)).session
  // With nothing to choose from, the first request leaves behind the hello.
  return openSession(opener, (await reach(plan, signal)).connection, target, signal)
}
