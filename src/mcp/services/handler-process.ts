/**
 * One run of the handler command, in a process group of its own that nothing survives.
 *
 * Holds: whatever way the run ends — by itself, by a limit, by `stop`, or because the agent itself was killed — the
 * whole group ends with it. The run is over only when its leader has been reaped.
 *
 * Not covered: a program that leaves the group by `setsid` is out of reach of any signal to it.
 *
 * @module
 */
import { type ChildProcess } from 'node:child_process'
import { type Readable } from 'node:stream'
import { type Env } from '../../core/env.ts'
import { type JsonValue } from '../../core/json.ts'
import { type Clock } from '../../core/time.ts'
import { guardOf, type ProcessHost, signalGroup, startLeader } from './process-group.ts'
import { SpokenProgress } from './spoken-progress.ts'
import { TailBuffer } from './tail-buffer.ts'

/** From TERM to KILL: enough for a program to remove its temporary files, short enough for a peer to wait. */
export const STOP_GRACE_MS = 2_000
/**
 * How long output is awaited after the command has ended while programs it left behind hold it open. What is under way
 * (`tee` in a process substitution) takes milliseconds; the rest is for a machine under load.
 */
export const DRAIN_MS = 1_000
/** Kept of stderr: the end, where programs say why they failed. */
export const STDERR_TAIL_BYTES = 8_192
/** More than this on stderr is a fault and not a diagnosis; it bounds the work of reading it. */
export const MAX_STDERR_BYTES = 67_108_864

export interface HandlerRequest {
  readonly command: string
  readonly environment: Env
  readonly input: Uint8Array
  readonly timeoutMs: number
  readonly maxOutputBytes: number
  /** Takes what the command says of its progress on stderr. */
  readonly progress: (value: JsonValue) => void
}

/** How a run ended. `exited` has the status of the command, or the signal that took the whole group. */
export type HandlerOutcome =
  | { readonly kind: 'exited'; readonly status: number | NodeJS.Signals }
  | { readonly kind: 'timeout' | 'stdout-flood' | 'stderr-flood' | 'stopped' }
  | { readonly kind: 'spawn-failed'; readonly reason: string }

export interface HandlerEnd {
  readonly outcome: HandlerOutcome
  readonly stdout: Uint8Array
  /** The last `STDERR_TAIL_BYTES`. */
  readonly stderr: Uint8Array
  readonly stderrBytes: number
  readonly durationMs: number
}

export interface HandlerDeps {
  readonly clock: Clock
  readonly host: ProcessHost
}

export class HandlerRun {
  /** Resolves once the process is gone; never rejects. */
  readonly ended: Promise<HandlerEnd>
  readonly #request: HandlerRequest
  readonly #deps: HandlerDeps
  readonly #startedAt: number
  readonly #resolve: (end: HandlerEnd) => void
  readonly #timers: (() => void)[] = []
  readonly #stdout: Uint8Array[] = []
  readonly #stderr = new TailBuffer(STDERR_TAIL_BYTES)
  readonly #spoken: SpokenProgress
  #child: ChildProcess | undefined
  #stdoutBytes = 0
  #stderrBytes = 0
  #openStreams = 0
  #status: number | NodeJS.Signals | undefined
  #outcome: HandlerOutcome | undefined
  /** Only the leader, and what the command left behind with its output closed, is in the group. */
  #alone = false
  #leaderGone = false
  #killed = false
  #over = false

  constructor(request: HandlerRequest, deps: HandlerDeps) {
    const { promise, resolve } = Promise.withResolvers<HandlerEnd>()
    this.ended = promise
    this.#resolve = resolve
    this.#request = request
    this.#spoken = new SpokenProgress(request.progress)
    this.#deps = deps
    this.#startedAt = deps.clock.monotonic()
    try {
      this.#child = this.#spawn()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** TERM to the group, and KILL to what is left of it after `STOP_GRACE_MS`. */
  stop(): void {
    this.#end({ kind: 'stopped' }, 'SIGTERM')
  }

  /** KILL to the group at once. */
  kill(): void {
    this.#end({ kind: 'stopped' }, 'SIGKILL')
  }

  #spawn(): ChildProcess {
    const { command, environment, input, timeoutMs } = this.#request
    const child = startLeader(this.#deps.host, command, environment)
    child.on('error', (error) => this.#fail(error))
    child.on('exit', (code, signal) => this.#leaderExited(code, signal))
    this.#collect(child.stdout, (chunk) => this.#takeStdout(chunk))
    this.#collect(child.stderr, (chunk) => this.#takeStderr(chunk))
    this.#watchStatus(child)
    // A command need not read its input; the broken pipe says no more than that.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
    this.#after(timeoutMs, () => {
      if (this.#status === undefined) this.#end({ kind: 'timeout' }, 'SIGTERM')
    })
    return child
  }

  #collect(stream: Readable | null, take: (chunk: Uint8Array) => void): void {
    if (!stream) return
    this.#openStreams += 1
    stream.on('data', take)
    stream.on('error', () => {})
    stream.on('close', () => {
      this.#openStreams -= 1
      this.#proceed()
    })
  }

  #watchStatus(child: ChildProcess): void {
    const pipe = guardOf(child)
    let text = ''
    pipe?.on('error', () => {})
    pipe?.on('data', (chunk: Uint8Array) => {
      text += Buffer.from(chunk).toString('latin1')
      if (text.includes('\n')) this.#statusReported(Number.parseInt(text, 10))
      if (text.endsWith('over\n')) this.#alone = true
      this.#proceed()
    })
  }

  #statusReported(status: number): void {
    if (this.#status !== undefined) return
    this.#status = Number.isNaN(status) ? 'SIGKILL' : status
    // A run that was told to stop has its grace for all of the group.
    if (this.#outcome === undefined) this.#after(DRAIN_MS, () => this.#killGroup())
  }

  #takeStdout(chunk: Uint8Array): void {
    this.#stdoutBytes += chunk.length
    if (this.#stdoutBytes <= this.#request.maxOutputBytes) this.#stdout.push(chunk)
    else this.#end({ kind: 'stdout-flood' }, 'SIGKILL')
  }

  #takeStderr(chunk: Uint8Array): void {
    this.#stderrBytes += chunk.length
    this.#stderr.push(this.#spoken.take(chunk))
    if (this.#stderrBytes > MAX_STDERR_BYTES) this.#end({ kind: 'stderr-flood' }, 'SIGKILL')
  }

  #leaderExited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#leaderGone = true
    this.#status ??= code ?? signal ?? 'SIGKILL'
    this.#killGroup()
    this.#proceed()
  }

  /** The first reason stands; a later KILL only hurries it. */
  #end(outcome: HandlerOutcome, signal: 'SIGTERM' | 'SIGKILL'): void {
    const stopping = this.#outcome !== undefined
    this.#outcome ??= outcome
    // After the KILL the number of the group may belong to another.
    if (this.#killed) return
    if (signal === 'SIGKILL') this.#killGroup()
    else if (!stopping) {
      this.#signalGroup('SIGTERM')
      this.#after(STOP_GRACE_MS, () => this.#killGroup())
    }
  }

  #proceed(): void {
    if (this.#alone && this.#openStreams === 0) this.#killGroup()
    if (this.#leaderGone && this.#openStreams === 0) this.#finish()
  }

  #killGroup(): void {
    if (this.#killed) return
    this.#killed = true
    this.#signalGroup('SIGKILL')
  }

  #signalGroup(signal: NodeJS.Signals): void {
    signalGroup(this.#deps.host, this.#child?.pid, signal)
  }

  #fail(error: unknown): void {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    const reason = typeof code === 'string' ? code : 'unknown reason'
    this.#outcome = { kind: 'spawn-failed', reason }
    this.#finish()
  }

  #after(ms: number, run: () => void): void {
    this.#timers.push(this.#deps.clock.after(ms, run))
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    for (const cancel of this.#timers) cancel()
    const child = this.#child
    child?.stdin?.destroy()
    child?.stdout?.destroy()
    child?.stderr?.destroy()
    if (child !== undefined) guardOf(child)?.destroy()
    this.#stderr.push(this.#spoken.end())
    this.#resolve({
      outcome: this.#outcome ?? { kind: 'exited', status: this.#status ?? 'SIGKILL' },
      stdout: Buffer.concat(this.#stdout),
      stderr: this.#stderr.bytes(),
      stderrBytes: this.#stderr.totalBytes,
      durationMs: this.#deps.clock.monotonic() - this.#startedAt,
    })
  }
}
