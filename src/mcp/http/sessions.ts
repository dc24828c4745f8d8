/**
 * The sessions of all hosts.
 *
 * Holds: a session is found by its name only with the identity it was begun with. There are never more than a bound; a
 * new one takes the place of one that nobody uses, first of those that never were used, and when there is none such it
 * is refused. What nobody uses for long ends.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'
import { type HostLink } from './host-link.ts'
import { MAX_SESSIONS, SESSION_IDLE_MS, SWEEP_MS } from './limits.ts'

export interface Session {
  readonly name: string
  readonly identity: string
  /** The revision that was agreed on. */
  readonly version: string
  readonly link: HostLink
  /** Ends it, calls and all. */
  readonly end: (reason: CtError) => void
}

export class Sessions {
  readonly #clock: Clock
  readonly #limit: number
  readonly #all = new Map<string, Session>()
  /** Of those, the ones that were asked something after the first request. */
  readonly #proven = new Set<Session>()
  #cancelSweep: () => void = () => {}

  constructor(clock: Clock, limit = MAX_SESSIONS) {
    this.#clock = clock
    this.#limit = limit
    this.#plan()
  }

  get size(): number {
    return this.#all.size
  }

  find(name: string, identity: string): Session | undefined {
    const session = this.#all.get(name)
    if (session?.identity !== identity) return undefined
    this.#proven.add(session)
    session.link.touch()
    return session
  }

  /** Makes room for one more; false when all are in use. */
  makeRoom(): boolean {
    if (this.#all.size < this.#limit) return true
    const unused = [...this.#all.values()].filter(({ link }) => !link.isBusy)
    const loser = longestUnused(unused.filter((session) => !this.#proven.has(session))) ?? longestUnused(unused)
    if (loser === undefined) return false
    this.end(loser, new CtError('ERR_PEER_BUSY', 'there are more sessions than this gateway keeps'))
    return true
  }

  add(session: Session): void {
    this.#all.set(session.name, session)
  }

  end(session: Session, reason: CtError): void {
    if (!this.#all.delete(session.name)) return
    this.#proven.delete(session)
    session.end(reason)
  }

  close(reason: CtError): void {
    this.#cancelSweep()
    for (const session of [...this.#all.values()]) this.end(session, reason)
  }

  #plan(): void {
    this.#cancelSweep = this.#clock.after(SWEEP_MS, () => {
      this.#sweep()
      this.#plan()
    })
  }

  #sweep(): void {
    const before = this.#clock.monotonic() - SESSION_IDLE_MS
    for (const session of [...this.#all.values()]) {
      const { link } = session
      if (link.isBusy) link.touch()
      else if (link.usedAt < before) this.end(session, new CtError('ERR_SESSION_IDLE', 'nobody used the session'))
      link.sweep()
    }
  }
}

function longestUnused(sessions: readonly Session[]): Session | undefined {
  const [first, ...others] = sessions
  if (first === undefined) return undefined
  return others.reduce((oldest, session) => (session.link.usedAt < oldest.link.usedAt ? session : oldest), first)
}
