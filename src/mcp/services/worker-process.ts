/**
 * One worker as a process, in a process group of its own that nothing survives.
 *
 * Holds: what it writes arrives as lines of bounded length. Once it has ended, was stopped, or the agent is gone, the
 * whole group ends; it is over only when its leader has been reaped.
 *
 * Not covered: a program that leaves the group by `setsid` is out of reach of any signal to it.
 *
 * @module
 */
import { type ChildProcess } from 'node:child_process'
import { type Env } from '../../core/env.ts'
import { type Clock } from '../../core/time.ts'
import { DRAIN_MS, STOP_GRACE_MS } from './handler-process.ts'
import { LineReader } from './line-reader.ts'
import { guardOf, type ProcessHost, signalGroup, startLeader } from './process-group.ts'

/** From the end of its input to TERM: a worker that reads to the end of its input ends by itself. */
const EOF_GRACE_MS = 500

export interface WorkerEvents {
  readonly line: (line: Uint8Array) => void
  /** It wrote a line that is too long; nothing more of it is read. */
  readonly tooLong: () => void
  readonly stderr: (chunk: Uint8Array) => void
}

/** What a worker is spoken to through. */
export interface WorkerPort {
  /** The end of it, in words. */
  readonly ended: Promise<string>
  readonly write: (line: string) => void
  /** Ends its input, and what does not end by that. */
  readonly stop: () => void
  readonly kill: () => void
}

export interface WorkerProcessDeps {
  readonly clock: Clock
  readonly host: ProcessHost
  readonly maxLineBytes: number
}

export class WorkerProcess implements WorkerPort {
  readonly ended: Promise<string>
  readonly #deps: WorkerProcessDeps
  readonly #child: ChildProcess
  readonly #timers: (() => void)[] = []
  #status: string | undefined
  #isEnding = false
  #isKilled = false

  /** @throws what the system says when it cannot start a process */
  constructor(command: string, environment: Env, events: WorkerEvents, deps: WorkerProcessDeps) {
    this.#deps = deps
    const child = startLeader(deps.host, command, environment)
    this.#child = child
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => {})
    const lines = new LineReader(deps.maxLineBytes, events)
    child.stdout?.on('data', (chunk: Uint8Array) => lines.push(chunk))
    child.stderr?.on('data', (chunk: Uint8Array) => events.stderr(chunk))
    this.#watchStatus()
    this.ended = this.#watchEnd()
  }

  write(line: string): void {
    if (this.#child.stdin?.writable === true) this.#child.stdin.write(`${line}\n`)
  }

  stop(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#child.stdin?.end()
    this.#after(EOF_GRACE_MS, () => this.#signal('SIGTERM'))
    this.#after(EOF_GRACE_MS + STOP_GRACE_MS, () => this.kill())
  }

  kill(): void {
    this.#signal('SIGKILL')
    // After the KILL the number of the group may belong to another.
    this.#isKilled = true
  }

  #watchStatus(): void {
    const guard = guardOf(this.#child)
    let text = ''
    guard?.on('error', () => {})
    guard?.on('data', (chunk: Uint8Array) => {
      text = (text + Buffer.from(chunk).toString('latin1')).slice(0, MAX_REPORT_CHARS)
      const status = /^(\d+)\n/.exec(text)?.[1]
      if (status !== undefined && this.#status === undefined) {
        this.#status = `exit status: ${status}`
        // Whoever passes the input on ends with it; what the worker left behind gets a moment to write.
        this.#child.stdin?.end()
        this.#after(DRAIN_MS, () => this.kill())
      }
      if (text.endsWith('over\n')) this.kill()
    })
  }

  #watchEnd(): Promise<string> {
    const child = this.#child
    const { promise, resolve } = Promise.withResolvers<string>()
    const finish = (how: string): void => {
      for (const cancel of this.#timers) cancel()
      guardOf(child)?.destroy()
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy()
      resolve(how)
    }
    child.on('error', (error) => finish(`spawn failed: ${'code' in error ? String(error.code) : 'unknown reason'}`))
    child.on('exit', (_, signal) => {
      this.kill()
      // The pipes are empty once all who held them are gone.
      if (child.stdout === null || child.stdout.destroyed) finish(this.#status ?? `signal: ${signal ?? 'SIGKILL'}`)
      else child.stdout.once('close', () => finish(this.#status ?? `signal: ${signal ?? 'SIGKILL'}`))
    })
    return promise
  }

  #signal(signal: NodeJS.Signals): void {
    if (!this.#isKilled) signalGroup(this.#deps.host, this.#child.pid, signal)
  }

  #after(ms: number, run: () => void): void {
    this.#timers.push(this.#deps.clock.after(ms, run))
  }
}

/** A status and `over`. */
const MAX_REPORT_CHARS = 32
