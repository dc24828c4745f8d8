/**
 * A handler that is a number of workers: long-lived processes that speak lines of JSON.
 *
 * Holds: so many workers are kept running; one that ends is started anew, later each time it ends soon. A call goes to the
 * worker with most room; when none has room for {@link MAX_WAIT_MS}, since they are down or stuck, it fails and was never
 * handed out. A call whose worker ends fails: whether it has had an effect is not known, so it is not run again.
 *
 * @module
 */
import { type Log } from '../../core/log.ts'
import { Backoff, type BackoffPolicy, type Random } from '../../core/time.ts'
import { SpokenLines } from '../programs/spoken-lines.ts'
import { systemReason } from '../programs/system-reason.ts'
import { type Failure, type HandlerTask, STOPPED } from './handler.ts'
import { type JsonOutcome } from './json-handler.ts'
import { Worker, type WorkerBounds } from './worker.ts'
import { type WorkerEvents, type WorkerPort } from './worker-process.ts'

/** How long a call waits for a worker with room: a restart and a cancelled call's grace fit in. */
export const MAX_WAIT_MS = 5_000
/** Delays before a worker that ended is started again. */
export const RESTART: BackoffPolicy = { baseMs: 200, capMs: 30_000, stableMs: 10_000 }

export interface WorkerPoolDeps extends WorkerBounds {
  readonly log: Log
  readonly random: Random
  readonly workers: number
  /** Starts a process; throws when the system cannot. */
  readonly start: (events: WorkerEvents) => WorkerPort
}

/** A place for one worker at a time. */
interface Seat {
  readonly backoff: Backoff
  running?: { readonly worker: Worker; readonly port: WorkerPort; readonly over: Promise<void> }
  cancelRestart: () => void
}

export class WorkerPool {
  readonly #deps: WorkerPoolDeps
  readonly #seats: readonly Seat[]
  readonly #waiters = new Set<(failure?: Failure) => void>()
  #lastEnd = 'has not started yet'
  #isClosed = false

  constructor(deps: WorkerPoolDeps) {
    this.#deps = deps
    this.#seats = Array.from({ length: deps.workers }, () => ({
      backoff: new Backoff(RESTART, deps.random),
      cancelRestart: () => {},
    }))
    for (const seat of this.#seats) this.#start(seat)
  }

  async run(task: HandlerTask): Promise<JsonOutcome> {
    for (;;) {
      if (this.#isClosed || task.signal.aborted) return { kind: 'failed', failure: STOPPED }
      const worker = this.#roomiest()
      if (worker !== undefined) return worker.call(task)
      const failure = await this.#room(task.signal)
      if (failure !== undefined) return { kind: 'failed', failure }
    }
  }

  /** Asks the workers to let go of their calls. */
  stop(): void {
    this.#refuseWaiters()
    for (const { running } of this.#seats) running?.worker.stop()
  }

  /** Ends the workers: at once where they still have calls, else by the end of their input. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#refuseWaiters()
    const { places } = this.#deps
    await Promise.all(
      this.#seats.map(async ({ running, cancelRestart }) => {
        cancelRestart()
        if (running === undefined) return
        const { worker, port, over } = running
        if (worker.room === places) port.stop()
        else port.kill()
        worker.end(STOPPED)
        await over
      }),
    )
  }

  #roomiest(): Worker | undefined {
    let best: Worker | undefined
    for (const { running } of this.#seats) {
      const room = running?.worker.room ?? 0
      if (room > (best?.room ?? 0)) best = running?.worker
    }
    return best
  }

  /** Waits until there may be room; whoever waited looks again, since it may be taken or gone by then. */
  #room(signal: AbortSignal): Promise<Failure | undefined> {
    return new Promise((resolve) => {
      const settle = (failure?: Failure): void => {
        cancel()
        signal.removeEventListener('abort', abort)
        this.#waiters.delete(settle)
        resolve(failure)
      }
      const abort = (): void => settle(STOPPED)
      const cancel = this.#deps.clock.after(MAX_WAIT_MS, () =>
        settle({ kind: 'no-worker', what: `has no worker to run it: the last one ${this.#lastEnd}` }),
      )
      signal.addEventListener('abort', abort, { once: true })
      this.#waiters.add(settle)
    })
  }

  #admit(worker: Worker): void {
    for (const settle of [...this.#waiters].slice(0, worker.room)) settle()
  }

  #refuseWaiters(): void {
    for (const settle of [...this.#waiters]) settle(STOPPED)
  }

  #start(seat: Seat): void {
    const { clock, log } = this.#deps
    const startedAt = clock.monotonic()
    const stderr = new SpokenLines(log, clock, 'worker')
    let worker: Worker | undefined
    let port: WorkerPort
    try {
      port = this.#deps.start({
        line: (line) => worker?.takeLine(line),
        tooLong: () => worker?.lineTooLong(),
        stderr: (chunk) => stderr.push(chunk),
      })
    } catch (error) {
      this.#ended(seat, startedAt, `spawn failed: ${systemReason(error)}`, stderr)
      return
    }
    const started = new Worker(port, this.#deps, {
      freed: () => this.#admit(started),
      garbage: (shown) => log.warn('worker.garbage', { line: shown }),
    })
    worker = started
    const over = port.ended.then((how) => {
      delete seat.running
      started.end({ kind: 'worker-ended', what: `worker ended in the middle of it: exited ${how}` })
      this.#ended(seat, startedAt, `exited ${how}`, stderr)
    })
    seat.running = { worker: started, port, over }
    this.#admit(started)
  }

  #ended(seat: Seat, startedAt: number, how: string, stderr: SpokenLines): void {
    this.#lastEnd = how
    if (this.#isClosed) return
    const { clock, log } = this.#deps
    const restartMs = seat.backoff.next(clock.monotonic() - startedAt)
    log.warn('worker.ended', { reason: how, restartMs, ...(stderr.last === '' ? {} : { said: stderr.last }) })
    seat.cancelRestart = clock.after(restartMs, () => this.#start(seat))
  }
}
