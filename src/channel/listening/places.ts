/**
 * Who has room here, and who takes whose place.
 *
 * Holds: at most `maxSessions` are admitted at once, of one peer its share; a run that comes again on a better way is let
 * in beside its own older session, which ends soon after, so for a moment there is one more for every run that moves.
 *
 * @module
 */
import { CtError, type ErrorCode } from '../../core/errors.ts'
import { type HolderId, type InstanceId } from '../../core/ids.ts'
import { type Clock } from '../../core/time.ts'
import { type Hello } from '../session/hello.ts'
import { type Session } from '../session/session.ts'

/** What a caller that met a full house waits at least. */
const BUSY_RETRY_MS = 1_000
/** Time for a caller to end its older session itself, which it does when it knows of the new one. */
const MOVE_MS = 5_000

export interface PlaceLimits {
  readonly maxSessions: number
  readonly peerShare: number
}

export class Places {
  readonly #sessions: ReadonlySet<Session>
  readonly #limits: PlaceLimits
  readonly #clock: Clock
  /** Of callers whose calls survive their session. */
  readonly #runs = new WeakMap<Session, InstanceId>()

  /** @param sessions all that are open, admitted or not */
  constructor(sessions: ReadonlySet<Session>, limits: PlaceLimits, clock: Clock) {
    this.#sessions = sessions
    this.#limits = limits
    this.#clock = clock
  }

  get taken(): number {
    return this.#admitted().length
  }

  /** Why there is no room for it. */
  refusal(holder: HolderId, hello: Hello): CtError | undefined {
    const { maxSessions, peerShare } = this.#limits
    const admitted = this.#admitted()
    const moving = this.#olderOf(holder, hello).length > 0 ? 1 : 0
    if (admitted.length - moving >= maxSessions) return notNow('ERR_PEER_BUSY', `all ${maxSessions} sessions are taken`)
    const own = admitted.filter(({ peer }) => peer.holder === holder).length
    if (own - moving < peerShare) return undefined
    return notNow('ERR_PEER_BUSY', `this peer has the ${own} sessions that one peer may have`)
  }

  /** The session is admitted; older ones of the same run end, the newest of them when its caller has had time to. */
  take(session: Session, hello: Hello): void {
    const older = this.#olderOf(session.peer.holder, hello).filter((one) => one !== session)
    if (hello.calls !== undefined) this.#runs.set(session, hello.run)
    const last = older.pop()
    for (const one of older) one.end(moved(), { final: false })
    if (last === undefined) return
    const cancel = this.#clock.after(MOVE_MS, () => last.end(moved(), { final: false }))
    // One that was only tried, and let go, takes nobody's place.
    void Promise.race([session.closed, last.closed]).then(cancel)
  }

  #admitted(): readonly Session[] {
    return [...this.#sessions].filter(({ isReady }) => isReady)
  }

  #olderOf(holder: HolderId, { run, calls }: Hello): Session[] {
    if (calls === undefined) return []
    return this.#admitted().filter((session) => session.peer.holder === holder && this.#runs.get(session) === run)
  }
}

/** A refusal that says when to come again. */
export function notNow(code: ErrorCode, reason: string): CtError {
  return new CtError(code, reason, { detail: { retryAfterMs: BUSY_RETRY_MS } })
}

function moved(): CtError {
  return new CtError('ERR_LINK_CLOSED', 'a newer session of the same run has taken its place')
}
