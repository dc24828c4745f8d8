/**
 * The caller's part in meeting a peer directly, to which it speaks through a relay.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type Clock, pause, type Random } from '../../core/time.ts'
import { type Address } from '../address.ts'
import { STAGGER_MS } from '../dialling/ladder.ts'
import { putAway } from '../dialling/put-away.ts'
import { race } from '../dialling/race.ts'
import { type ChannelNode } from '../node/node.ts'
import { type OwnNetworks } from './neighbours.ts'
import { believedSeen, headStartMs, planRounds, type Round, roundMs, type Standing, worthDialling } from './plan.ts'
import { runRound, type Side } from './rounds.ts'
import { PunchTalk } from './talk.ts'

/** Time for the peer to say where it is. */
const HERE_TIMEOUT_MS = 5_000

export interface Meeting {
  readonly node: Side['node'] & Pick<ChannelNode, 'addresses'>
  /** The connection through the relay. */
  readonly relayed: Connection
  readonly peer: HolderId
  /** Hosts at which the broker knows the peer. */
  readonly peerHosts: ReadonlySet<string>
  /** Where the broker sees this member. */
  readonly seen: Address | undefined
  /** This side's own port of the connection to the broker. */
  readonly localPort: number | undefined
  readonly networks: OwnNetworks
  /** Tries addresses that need no hole. */
  readonly dial: (addresses: readonly Address[], signal: AbortSignal) => Promise<Connection>
  readonly clock: Clock
  readonly random: Random
}

export interface Met {
  readonly connection: Connection
  readonly way: 'direct' | 'punched'
}

/** @throws {CtError} `ERR_PEER_UNREACHABLE` when there is no direct way, and what was tried */
export async function meetDirectly(meeting: Meeting, signal: AbortSignal): Promise<Met> {
  const { clock, peerHosts, seen, networks } = meeting
  const talk = await PunchTalk.open(meeting.relayed, signal)
  const over = new AbortController()
  const stop = AbortSignal.any([signal, talk.ended, over.signal])
  try {
    const own = standingOf(meeting, meeting.node.addresses())
    const since = clock.monotonic()
    talk.say({ kind: 'here', ...own })
    const answer = await talk.hear(AbortSignal.any([stop, AbortSignal.timeout(HERE_TIMEOUT_MS)]))
    const roundTripMs = clock.monotonic() - since
    if (answer.kind !== 'here') throw new CtError('ERR_PROTOCOL', 'expected a peer that says where it is')
    const named = worthDialling(answer, { peerHosts, ownHost: seen?.host, isNeighbour: networks.isNeighbour })
    const outcome = await race<Met>(
      [
        ...(named.length === 0
          ? []
          : [{ afterMs: 0, run: (signal: AbortSignal) => dialNamed(meeting, named, signal) }]),
        // A hole is of no use to who can be dialled, now and later.
        {
          afterMs: named.length === 0 ? 0 : STAGGER_MS,
          run: (signal: AbortSignal) => punch(meeting, { talk, own, answer, roundTripMs }, signal),
        },
      ],
      { clock, signal: stop, discard: ({ connection }) => putAway(connection) },
    )
    if ('value' in outcome) return outcome.value
    const reasons = outcome.failures.map(({ message }) => message).join('; ')
    throw new CtError('ERR_PEER_UNREACHABLE', `no direct way (${reasons})`)
  } finally {
    over.abort()
    talk.close()
  }
}

/** @param at where this side may be dialled */
export function standingOf(
  { seen, localPort, networks }: Pick<Meeting, 'seen' | 'localPort' | 'networks'>,
  at: readonly Address[],
): Standing {
  return {
    ...(seen === undefined ? {} : { seen: { host: seen.host, port: localPort === undefined ? 0 : seen.port } }),
    isOpen: seen !== undefined && networks.has(seen.host),
    at,
  }
}

/** Where the peer says that it listens, as far as it may be believed. */
async function dialNamed({ dial }: Meeting, named: readonly Address[], stop: AbortSignal): Promise<Met> {
  return { connection: await dial(named, stop), way: 'direct' }
}

interface Arrangement {
  readonly talk: PunchTalk
  readonly own: Standing
  readonly answer: Standing
  readonly roundTripMs: number
}

async function punch(
  { node, peer, peerHosts, localPort, clock, random }: Meeting,
  { talk, own, answer, roundTripMs }: Arrangement,
  stop: AbortSignal,
): Promise<Met> {
  const to = believedSeen(answer, peerHosts)
  const side: Side = { node, role: 'caller', peer, localPort, to, clock, random }
  const rounds = planRounds(own, to === undefined ? { ...answer, seen: { host: '', port: 0 } } : answer)
  for (const round of rounds) {
    stop.throwIfAborted()
    const ms = roundMs(roundTripMs)
    talk.say({ kind: 'go', round, ms })
    await pause(clock, headStartMs(roundTripMs), stop)
    const connection = await runRound(round, side, ending(clock, ms, stop))
    if (connection !== undefined) return { connection, way: 'punched' }
  }
  throw new CtError('ERR_PEER_UNREACHABLE', tried(to, rounds))
}

/** Aborts after so long, or with the signal. */
export function ending(clock: Clock, ms: number, signal: AbortSignal): AbortSignal {
  const over = new AbortController()
  const cancel = clock.after(ms, () => over.abort())
  signal.addEventListener('abort', cancel, { once: true })
  return AbortSignal.any([signal, over.signal])
}

function tried(to: Address | undefined, rounds: readonly Round[]): string {
  if (rounds.length > 0) return `tried to ${rounds.join(' and to ')}`
  return to === undefined
    ? 'the broker does not see the peer at an address that could be dialled'
    : 'the broker sees the two sides at addresses that cannot meet'
}
