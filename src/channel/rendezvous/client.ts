/**
 * A member's dealings with its broker: an acceptor holds a seat for as long as it serves, an initiator asks for a peer.
 *
 * Holds: one back-off for every reason to come again; a broker that lets a waiting member go after its time is joined
 * again at once; a refusal that only a person can mend ends it all with that refusal.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { type CtError, retryAfterOf, toCtError } from '../../core/errors.ts'
import { Backoff, type BackoffPolicy, type Clock, pause, type Random } from '../../core/time.ts'
import { type KnownRevocations } from '../membership/known-revocations.ts'
import { type BrokerState } from './broker-state.ts'
import { type Join, type Load, type Peer } from './messages.ts'
import { Stay, type StayEnd } from './stay.ts'

/** First retry soon, later ones far enough apart for a broker that is down for long. */
export const REJOIN: BackoffPolicy = { baseMs: 200, capMs: 10_000, stableMs: 10_000 }
/** Load that changes faster is told less often. */
const LOAD_EVERY_MS = 250

/** Where the connection to the broker comes from. */
export interface BrokerConnector {
  readonly connect: (signal: AbortSignal) => Promise<Connection>
  readonly drop: (connection: Connection, reason: Error) => void
}

export interface ClientOptions {
  readonly link: BrokerConnector
  /** Asked at every join, for what it says may have changed. */
  readonly join: (broker: Connection) => Join
  readonly revocations: KnownRevocations
  readonly clock: Clock
  readonly onState: (state: BrokerState) => void
}

export interface SeatOptions extends ClientOptions {
  readonly random: Random
  /** Told who comes, before it does. */
  readonly onPeer?: (peer: Peer) => void
  /** The seat is taken until the signal aborts. */
  readonly onSeated?: (signal: AbortSignal) => void
}

/** The seat of an acceptor. */
export class Seat {
  /** Resolves with the refusal that ended it, never when it was left. */
  readonly refused: Promise<CtError>
  readonly #options: SeatOptions
  readonly #refused = Promise.withResolvers<CtError>()
  readonly #leaving = new AbortController()
  readonly #over: Promise<void>
  #stay: Stay | undefined
  #load: Load | undefined
  #cancelLoad: (() => void) | undefined

  constructor(options: SeatOptions) {
    this.#options = options
    this.refused = this.#refused.promise
    this.#over = this.#run()
  }

  /** How busy this member is; the newest counts. */
  tell(taken: number, places: number): void {
    this.#load = { kind: 'load', taken, places }
    this.#cancelLoad ??= this.#options.clock.after(LOAD_EVERY_MS, () => {
      this.#cancelLoad = undefined
      this.#sayLoad()
    })
  }

  async leave(): Promise<void> {
    this.#cancelLoad?.()
    this.#leaving.abort()
    this.#stay?.leave()
    await this.#over
  }

  async #run(): Promise<void> {
    const { clock, random, onState } = this.#options
    const { signal } = this.#leaving
    const backoff = new Backoff(REJOIN, random)
    while (!signal.aborted) {
      const began = clock.monotonic()
      const end = await this.#stayOnce(signal)
      if (signal.aborted || end.kind === 'left') return
      if (end.kind === 'expired') {
        onState(end)
        continue
      }
      const { reason } = end
      if (!reason.facts.retryable) {
        this.#refused.resolve(reason)
        return
      }
      const delayMs = Math.max(backoff.next(clock.monotonic() - began), retryAfterOf(reason) ?? 0)
      onState({ kind: 'trouble', reason, delayMs })
      await pause(clock, delayMs, signal)
    }
  }

  async #stayOnce(signal: AbortSignal): Promise<StayEnd> {
    const seated = new AbortController()
    try {
      this.#stay = await openStay(this.#options, signal, {
        onJoined: () => {
          this.#sayLoad()
          this.#options.onSeated?.(seated.signal)
        },
        onPeer: this.#options.onPeer ?? (() => {}),
      })
      if (signal.aborted) this.#stay.leave()
      return await this.#stay.ended
    } catch (error) {
      return { kind: 'ended', reason: toCtError(error) }
    } finally {
      this.#stay = undefined
      seated.abort()
    }
  }

  #sayLoad(): void {
    if (this.#load !== undefined) this.#stay?.say(this.#load)
  }
}

/** A peer, and what ends the wait at the broker, which may still be needed to reach it. */
export interface Introduction {
  readonly peer: Peer
  /** Where the broker is reached, by which the addresses it names are judged. */
  readonly broker: Connection
  readonly leave: () => void
}

/**
 * Waits at the broker until it names a peer. `onAsked` is told when the question has been written.
 *
 * Rejects with what a person or an outer loop has to decide: a refusal, a broker that cannot be reached, the signal.
 */
export async function askForPeer(
  options: ClientOptions & { readonly onAsked?: () => void },
  signal: AbortSignal,
): Promise<Introduction> {
  for (;;) {
    const met = Promise.withResolvers<Peer>()
    const broker = await options.link.connect(signal)
    const stay = await openStay(options, signal, { onJoined: () => {}, onPeer: met.resolve })
    options.onAsked?.()
    const leave = (): void => stay.leave()
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
    const outcome = await Promise.race([met.promise, stay.ended])
    if (outcome.kind === 'peer') return { peer: outcome, broker, leave }
    signal.removeEventListener('abort', leave)
    signal.throwIfAborted()
    if (outcome.kind === 'ended') throw outcome.reason
    options.onState({ kind: 'expired' })
  }
}

export interface Handlers {
  readonly onJoined: () => void
  readonly onPeer: (peer: Peer) => void
}

/** One stay, from the connection to the broker on. */
export async function openStay(
  { link, join, revocations, clock, onState }: ClientOptions,
  signal: AbortSignal,
  { onJoined, onPeer }: Handlers,
): Promise<Stay> {
  const connection = await link.connect(signal)
  try {
    return await Stay.open(
      connection,
      {
        join: join(connection),
        revocations,
        clock,
        onMessage: (message) => {
          if (message.kind === 'peer') {
            onPeer(message)
          } else if (message.kind === 'hint') {
            onState(message)
          } else {
            onState({ kind: 'joined', observed: message.observed })
            onJoined()
          }
        },
      },
      signal,
    )
  } catch (error) {
    if (!signal.aborted) link.drop(connection, toCtError(error))
    throw error
  }
}
