/**
 * A program in a process group of its own, as the agent holds it.
 *
 * Holds: the group gets no signal after the KILL, since its number may then belong to another. A program that does not end
 * with its input, or when it is told to, is killed with all of its group.
 *
 * Not covered: a program that leaves the group by `setsid` is out of reach of any signal to it.
 *
 * @module
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { type Readable, type Writable } from 'node:stream'
import { type Env } from '../../core/env.ts'
import { type Clock } from '../../core/time.ts'

export interface ProcessHost {
  readonly spawn: (command: string, args: readonly string[], options: SpawnOptions) => ChildProcess
  /** Signals the process, or the group when `pid` is negative; may throw. */
  readonly kill: (pid: number, signal: NodeJS.Signals) => void
}

export const systemProcesses: ProcessHost = {
  spawn: (command, args, options) => spawn(command, args, options),
  kill: (pid, signal) => {
    process.kill(pid, signal)
  },
}

/** The shell program that leads the group: it runs the command, and ends the group when the agent is gone. */
export interface Leader {
  /** What the system calls it. */
  readonly name: string
  readonly script: string
}

export interface GroupDeps {
  readonly clock: Clock
  readonly host: ProcessHost
}

/** What the leader reports. */
export interface GroupEvents {
  /** The command has ended; its status is missing when what reports it was killed. */
  readonly ended: (status: number | undefined) => void
  /** Nobody but the leader is left. */
  readonly alone?: () => void
}

/** From the end of its input to TERM: a program that reads to the end of its input ends by itself. */
const EOF_GRACE_MS = 500
/** From TERM to KILL: enough for a program to remove its temporary files, short enough for a peer to wait. */
export const STOP_GRACE_MS = 2_000
/** A status and `over`. */
const MAX_REPORT_CHARS = 32

export class ProcessGroup {
  /** The leader. */
  readonly child: ChildProcess
  readonly #deps: GroupDeps
  readonly #timers: (() => void)[] = []
  #isEnding = false
  #isKilled = false

  /** @throws what the system says when it cannot start a process */
  constructor(leader: Leader, command: string, environment: Env, deps: GroupDeps) {
    this.#deps = deps
    this.child = deps.host.spawn('/bin/sh', ['-c', leader.script, leader.name, command], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      env: environment,
    })
    const { stdin, stdout, stderr } = this.child
    // A broken pipe says no more than that somebody is gone.
    for (const stream of [stdin, stdout, stderr, this.#guard]) stream?.on('error', () => {})
  }

  watch({ ended, alone }: GroupEvents): void {
    let text = ''
    let hasEnded = false
    this.#guard?.on('data', (chunk: Uint8Array) => {
      text = (text + Buffer.from(chunk).toString('latin1')).slice(0, MAX_REPORT_CHARS)
      if (!hasEnded && text.includes('\n')) {
        hasEnded = true
        const status = Number.parseInt(text, 10)
        ended(Number.isNaN(status) ? undefined : status)
      }
      if (text.endsWith('over\n')) alone?.()
    })
  }

  /** Ends its input, and what does not end by that. */
  finish(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.child.stdin?.end()
    if (!this.#isKilled) this.after(EOF_GRACE_MS, () => this.terminate())
  }

  /** TERM, and KILL to what is left after `STOP_GRACE_MS`. */
  terminate(): void {
    if (this.#isKilled) return
    this.#signal('SIGTERM')
    this.after(STOP_GRACE_MS, () => this.kill())
  }

  kill(): void {
    if (this.#isKilled) return
    this.#isKilled = true
    this.#signal('SIGKILL')
  }

  /** Once, unless it is let go of before. */
  after(ms: number, run: () => void): void {
    this.#timers.push(this.#deps.clock.after(ms, run))
  }

  /** Once nobody needs to watch it any more; its output may still be read. */
  release(): void {
    for (const cancel of this.#timers) cancel()
    this.#guard?.destroy()
    this.child.stdin?.destroy()
  }

  /** The agent's end of the pipe on descriptor 3 of the leader; a duplex, which node's types do not say. */
  get #guard(): (Readable & Writable) | undefined {
    return (this.child.stdio?.[3] ?? undefined) as (Readable & Writable) | undefined
  }

  #signal(signal: NodeJS.Signals): void {
    const { pid } = this.child
    if (pid === undefined) return
    try {
      this.#deps.host.kill(-pid, signal)
    } catch {
      // Nothing is left of the group, which is what was wanted.
    }
  }
}
