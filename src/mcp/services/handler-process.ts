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
import { type Readable } from 'node:stream'
import { type Env } from '../../core/env.ts'
import { type JsonValue } from '../../core/json.ts'
import { type GroupDeps, ProcessGroup } from '../programs/process-group.ts'
import { systemReason } from '../programs/system-reason.ts'
import { HANDLER_LEADER } from './handler-leader.ts'
import { SpokenProgress } from './spoken-progress.ts'
import { TailBuffer } from './tail-buffer.ts'

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

export class HandlerRun {
  /** Resolves once the process is gone; never rejects. */
  readonly ended: Promise<HandlerEnd>
  readonly #request: HandlerRequest
  readonly #deps: GroupDeps
  readonly #startedAt: number
  readonly #resolve: (end: HandlerEnd) => void
  readonly #stdout: Uint8Array[] = []
  readonly #stderr = new TailBuffer(STDERR_TAIL_BYTES)
  readonly #spoken: SpokenProgress
  #group: ProcessGroup | undefined
  #stdoutBytes = 0
  #stderrBytes = 0
  #openStreams = 0
  #status: number | NodeJS.Signals | undefined
  #outcome: HandlerOutcome | undefined
  /** Only the leader, and what the command left behind with its output closed, is in the group. */
  #alone = false
  #leaderGone = false
  #over = false

  constructor(request: HandlerRequest, deps: GroupDeps) {
    const { promise, resolve } = Promise.withResolvers<HandlerEnd>()
    this.ended = promise
    this.#resolve = resolve
    this.#request = request
    this.#spoken = new SpokenProgress(request.progress)
    this.#deps = deps
    this.#startedAt = deps.clock.monotonic()
    try {
      this.#group = this.#start()
    } catch (error) {
      this.#fail(error)
    }
  }

  /** TERM to the group, and KILL to what is left of it after `STOP_GRACE_MS`. */
  stop(): void {
    this.#end({ kind: 'stopped' }, 'terminate')
  }

  /** KILL to the group at once. */
  kill(): void {
    this.#end({ kind: 'stopped' }, 'kill')
  }

  #start(): ProcessGroup {
    const { command, environment, input, timeoutMs } = this.#request
    const group = new ProcessGroup(HANDLER_LEADER, command, environment, this.#deps)
    const { child } = group
    child.on('error', (error) => this.#fail(error))
    child.on('exit', (code, signal) => this.#leaderExited(code, signal))
    this.#collect(child.stdout, (chunk) => this.#takeStdout(chunk))
    this.#collect(child.stderr, (chunk) => this.#takeStderr(chunk))
    group.watch({
      ended: (status) => this.#statusReported(status ?? 'SIGKILL'),
      alone: () => {
        this.#alone = true
        this.#proceed()
      },
    })
    // A command need not read its input.
    child.stdin?.end(input)
    group.after(timeoutMs, () => {
      if (this.#status === undefined) this.#end({ kind: 'timeout' }, 'terminate')
    })
    return group
  }

  #collect(stream: Readable | null, take: (chunk: Uint8Array) => void): void {
    if (!stream) return
    this.#openStreams += 1
    stream.on('data', take)
    stream.on('close', () => {
      this.#openStreams -= 1
      this.#proceed()
    })
  }

  #statusReported(status: number | NodeJS.Signals): void {
    if (this.#status !== undefined) return
    this.#status = status
    // A run that was told to stop has its grace for all of the group.
    if (this.#outcome === undefined) this.#group?.after(DRAIN_MS, () => this.#group?.kill())
  }

  #takeStdout(chunk: Uint8Array): void {
    this.#stdoutBytes += chunk.length
    if (this.#stdoutBytes <= this.#request.maxOutputBytes) this.#stdout.push(chunk)
    else this.#end({ kind: 'stdout-flood' }, 'kill')
  }

  #takeStderr(chunk: Uint8Array): void {
    this.#stderrBytes += chunk.length
    this.#stderr.push(this.#spoken.take(chunk))
    if (this.#stderrBytes > MAX_STDERR_BYTES) this.#end({ kind: 'stderr-flood' }, 'kill')
  }

  #leaderExited(code: number | null, signal: NodeJS.Signals | null): void {
    this.#leaderGone = true
    this.#status ??= code ?? signal ?? 'SIGKILL'
    this.#group?.kill()
    this.#proceed()
  }

  /** The first reason stands; a later KILL only hurries it. */
  #end(outcome: HandlerOutcome, how: 'terminate' | 'kill'): void {
    const stopping = this.#outcome !== undefined
    this.#outcome ??= outcome
    if (how === 'kill') this.#group?.kill()
    else if (!stopping) this.#group?.terminate()
  }

  #proceed(): void {
    if (this.#alone && this.#openStreams === 0) this.#group?.kill()
    if (this.#leaderGone && this.#openStreams === 0) this.#finish()
  }

  #fail(error: unknown): void {
    this.#outcome = { kind: 'spawn-failed', reason: systemReason(error) }
    this.#finish()
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#group?.release()
    this.#group?.child.stdout?.destroy()
    this.#group?.child.stderr?.destroy()
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
