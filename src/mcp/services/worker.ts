/**
 * One worker and the calls that it has.
 *
 * Holds: every call ends, by the worker's answer, by its time limit, because nobody wants it any more, or with the worker.
 * A call that is given up keeps its place until the worker lets go of it; a worker that does not within
 * {@link CANCEL_GRACE_MS} gets no further calls, and is ended when it has none left that somebody wants. What a worker
 * writes that nobody waits for is pointed out once.
 *
 * @module
 */
import { printable } from '../../core/printable.ts'
import { type Clock } from '../../core/time.ts'
import { type Failure, type HandlerTask, STOPPED, timedOut } from './handler.ts'
import { createProgressReader } from './handler-progress.ts'
import { type JsonOutcome, requestText } from './json-handler.ts'
import { readWorkerMessage } from './worker-message.ts'
import { type WorkerPort } from './worker-process.ts'

/** From `cancel` to giving up: as long as a command has from TERM to KILL. */
export const CANCEL_GRACE_MS = 2_000
const MAX_SHOWN_CHARS = 200

export interface WorkerBounds {
  readonly clock: Clock
  readonly timeoutSeconds: number
  /** Calls at the same time. */
  readonly places: number
  readonly maxLineBytes: number
}

export interface WorkerWatcher {
  /** There may be room for another call. */
  readonly freed: () => void
  /** It wrote something that is no answer; told once. */
  readonly garbage: (shown: string) => void
}

interface WorkerCall {
  readonly end: (outcome: JsonOutcome) => void
  readonly report: ReturnType<typeof createProgressReader>
  /** How it ends when the worker has let go of it. */
  givenUp?: Failure
  cancelTimer: () => void
}

export class Worker {
  readonly #port: WorkerPort
  readonly #bounds: WorkerBounds
  readonly #watcher: WorkerWatcher
  readonly #calls = new Map<number, WorkerCall>()
  /** Given up, and the worker did not let go of them in time. */
  readonly #stuck = new Set<number>()
  #lastId = 0
  #saidGarbage = false
  #isOver = false

  constructor(port: WorkerPort, bounds: WorkerBounds, watcher: WorkerWatcher) {
    this.#port = port
    this.#bounds = bounds
    this.#watcher = watcher
  }

  /** Calls that it could take. */
  get room(): number {
    return this.#isOver || this.#stuck.size > 0 ? 0 : this.#bounds.places - this.#calls.size
  }

  call(task: HandlerTask): Promise<JsonOutcome> {
    const { clock, timeoutSeconds } = this.#bounds
    const { signal, progress } = task
    this.#lastId += 1
    const id = this.#lastId
    return new Promise((resolve) => {
      const giveUp = (): void => this.#giveUp(id, STOPPED)
      const call: WorkerCall = {
        report: createProgressReader(progress),
        cancelTimer: clock.after(timeoutSeconds * 1_000, () => this.#giveUp(id, timedOut(timeoutSeconds))),
        end: (outcome) => {
          call.cancelTimer()
          signal.removeEventListener('abort', giveUp)
          this.#calls.delete(id)
          resolve(call.givenUp === undefined ? outcome : { kind: 'failed', failure: call.givenUp })
        },
      }
      this.#calls.set(id, call)
      signal.addEventListener('abort', giveUp, { once: true })
      this.#port.write(requestText(task, id))
      if (signal.aborted) giveUp()
    })
  }

  takeLine(line: Uint8Array): void {
    const message = readWorkerMessage(line)
    if (message === undefined || message.id < 1 || message.id > this.#lastId) {
      this.#garbage(line)
      return
    }
    const call = this.#calls.get(message.id)
    if (message.kind === 'progress') {
      if (call?.givenUp === undefined) call?.report(message.value)
      return
    }
    this.#stuck.delete(message.id)
    call?.end(message)
    this.#settle()
  }

  lineTooLong(): void {
    this.end({ kind: 'stdout-flood', what: `wrote a line of more than ${this.#bounds.maxLineBytes} bytes` })
    this.#port.kill()
  }

  /** Asks it to let go of all its calls. */
  stop(): void {
    for (const id of [...this.#calls.keys()]) this.#giveUp(id, STOPPED)
  }

  /** Ends what it has: it is gone, or will be. */
  end(failure: Failure): void {
    this.#isOver = true
    for (const call of [...this.#calls.values()]) call.end({ kind: 'failed', failure })
  }

  #giveUp(id: number, failure: Failure): void {
    const call = this.#calls.get(id)
    if (call === undefined || call.givenUp !== undefined) return
    call.givenUp = failure
    call.cancelTimer()
    call.cancelTimer = this.#bounds.clock.after(CANCEL_GRACE_MS, () => {
      this.#stuck.add(id)
      call.end({ kind: 'failed', failure })
      this.#settle()
    })
    this.#port.write(JSON.stringify({ cancel: id }))
  }

  #settle(): void {
    if (this.#stuck.size > 0 && this.#calls.size === 0) this.#port.kill()
    else if (this.room > 0) this.#watcher.freed()
  }

  #garbage(line: Uint8Array): void {
    if (this.#saidGarbage || line.length === 0) return
    this.#saidGarbage = true
    this.#watcher.garbage(printable(Buffer.from(line.subarray(0, MAX_SHOWN_CHARS)).toString('utf8'), MAX_SHOWN_CHARS))
  }
}
