/**
 * The acceptor's part: it says where it is and does in each round what the caller asks, for callers that it has admitted.
 *
 * Holds: it dials nothing but the host at which the broker sees the caller; talks are few, short, and end with it.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { type HolderId } from '../../core/ids.ts'
import { type Clock, type Random } from '../../core/time.ts'
import { type Address } from '../address.ts'
import { ending, standingOf } from './meet.ts'
import { type OwnNetworks } from './neighbours.ts'
import { believedSeen } from './plan.ts'
import { runRound, type Side } from './rounds.ts'
import { PunchTalk } from './talk.ts'

/** Talks at once. */
export const MAX_TALKS = 32
/** Rounds of one talk. */
const MAX_ROUNDS = 6
const TALK_MS = 15_000

export interface Answering {
  readonly node: Side['node']
  /** Where this side may be dialled. */
  readonly at: () => readonly Address[]
  /** Asked at every talk, for machines move. */
  readonly networks: () => OwnNetworks
  /** Where the broker sees this member now, and the port of its own behind that. */
  readonly seen: () => { readonly seen: Address | undefined; readonly localPort: number | undefined }
  /** Hosts at which the broker sees the caller. */
  readonly hostsOf: (holder: HolderId) => ReadonlySet<string>
  /** This side dialled; the caller has still to open its session. */
  readonly onDialled: (connection: Connection) => void
  readonly clock: Clock
  readonly random: Random
}

export class Answerer {
  readonly #options: Answering
  #talks = 0

  constructor(options: Answering) {
    this.#options = options
  }

  /** @param caller whom this side has admitted on the connection under the stream */
  async answer(stream: Stream, caller: HolderId): Promise<void> {
    if (this.#talks >= MAX_TALKS) {
      stream.abort(new Error('too many talks'))
      return
    }
    this.#talks += 1
    const talk = new PunchTalk(stream)
    try {
      await this.#talk(talk, caller)
    } catch {
      // It ends when the caller has what it wants; whatever else ended it, the caller is still there, on the relay.
    } finally {
      talk.close()
      this.#talks -= 1
    }
  }

  async #talk(talk: PunchTalk, caller: HolderId): Promise<void> {
    const { node, networks, at, hostsOf, clock, random, onDialled } = this.#options
    const stop = ending(clock, TALK_MS, talk.ended)
    const theirs = await talk.hear(stop)
    if (theirs.kind !== 'here') return
    const { seen, localPort } = this.#options.seen()
    talk.say({ kind: 'here', ...standingOf({ seen, localPort, networks: networks() }, at()) })
    const to = believedSeen(theirs, hostsOf(caller))
    const side: Side = { node, role: 'acceptor', peer: caller, localPort, to, clock, random }
    for (let rounds = 0; rounds < MAX_ROUNDS; rounds += 1) {
      const go = await talk.hear(stop)
      if (go.kind !== 'go') return
      const made = await runRound(go.round, side, ending(clock, go.ms, stop))
      if (made?.direction === 'outbound') onDialled(made)
    }
  }
}
