/**
 * One attempt to get a session to a peer directly that goes through a relay.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { type HolderId } from '../../core/ids.ts'
import { abortable, type Random } from '../../core/time.ts'
import { type Address } from '../address.ts'
import { type ChannelNode } from '../node/node.ts'
import { addressOf } from '../node/transport-address.ts'
import { meetDirectly } from '../punching/meet.ts'
import { ownNetworks } from '../punching/neighbours.ts'
import { type Session } from '../session/session.ts'
import { reach } from './climb.ts'
import { planRungs, rungName } from './ladder.ts'
import { type Expectation, type Opener, openSession } from './opening.ts'

export interface DirectAttempt {
  readonly opener: Opener
  readonly node: ChannelNode
  readonly random: Random
  readonly target: Expectation
  readonly holder: HolderId
  /** The connection through the relay. */
  readonly relayed: Connection
  /** Hosts at which the broker knows the peer. */
  readonly peerHosts: ReadonlySet<string>
  /** Where the broker sees this side, and the own port behind that. */
  readonly seen: Address | undefined
  readonly localPort: number | undefined
}

export interface DirectSession {
  readonly session: Session
  readonly connection: Connection
  /** To try first the next time, as `rungName` names it; nobody can dial a hole. */
  readonly lastGood: string
  readonly way: 'direct' | 'punched'
}

/** @throws {CtError} why there is none */
export async function attemptDirect(attempt: DirectAttempt, signal: AbortSignal): Promise<DirectSession> {
  const { opener, target, node, holder } = attempt
  const { connection, way } = await meetDirectly(
    {
      ...attempt,
      node,
      peer: holder,
      networks: ownNetworks(),
      clock: opener.clock,
      dial: async (addresses, stop) => {
        const rungs = planRungs({ addresses, relay: false })
        return (await reach({ opener, target, rungs }, stop)).connection
      },
    },
    signal,
  )
  const session = await openSession(opener, connection, target, signal)
  try {
    await abortable(session.ready, signal)
  } catch (error) {
    connection.abort(error instanceof Error ? error : new Error(String(error)))
    throw error
  }
  const address = way === 'direct' ? addressOf(connection.remoteAddr) : undefined
  return {
    session,
    connection,
    way,
    lastGood: rungName(address === undefined ? { kind: 'relay' } : { kind: 'direct', address }),
  }
}
