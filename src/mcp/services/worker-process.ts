/**
 * One worker as a process, in a process group of its own that nothing survives.
 *
 * Holds: what it writes arrives as lines of bounded length. Once it has ended, was stopped, or the agent is gone, the
 * whole group ends; it is over only when its leader has been reaped.
 *
 * @module
 */
import { type Env } from '../../core/env.ts'
import { LineSplitter } from '../../core/lines.ts'
import { type GroupDeps, ProcessGroup } from '../programs/process-group.ts'
import { systemReason } from '../programs/system-reason.ts'
import { HANDLER_LEADER } from './handler-leader.ts'
import { DRAIN_MS } from './handler-process.ts'

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

export interface WorkerProcessDeps extends GroupDeps {
  readonly maxLineBytes: number
}

export class WorkerProcess implements WorkerPort {
  readonly ended: Promise<string>
  readonly #group: ProcessGroup
  #status: string | undefined

  /** @throws what the system says when it cannot start a process */
  constructor(command: string, environment: Env, events: WorkerEvents, { maxLineBytes, ...deps }: WorkerProcessDeps) {
    const group = new ProcessGroup(HANDLER_LEADER, command, environment, deps)
    this.#group = group
    const { stdin, stdout, stderr } = group.child
    const lines = new LineSplitter(maxLineBytes, {
      line: events.line,
      overflow: () => {
        lines.stop()
        events.tooLong()
      },
    })
    stdout?.on('data', (chunk: Uint8Array) => lines.push(chunk))
    stderr?.on('data', (chunk: Uint8Array) => events.stderr(chunk))
    group.watch({
      ended: (status) => {
        if (status !== undefined) this.#status = `exit status: ${status}`
        // Whoever passes the input on ends with it; what the worker left behind gets a moment to write.
        stdin?.end()
        group.after(DRAIN_MS, () => group.kill())
      },
      alone: () => group.kill(),
    })
    this.ended = this.#watchEnd()
  }

  write(line: string): void {
    const { stdin } = this.#group.child
    if (stdin?.writable === true) stdin.write(`${line}\n`)
  }

  stop(): void {
    this.#group.finish()
  }

  kill(): void {
    this.#group.kill()
  }

  #watchEnd(): Promise<string> {
    const group = this.#group
    const { child } = group
    const { promise, resolve } = Promise.withResolvers<string>()
    const finish = (how: string): void => {
      group.release()
      child.stdout?.destroy()
      child.stderr?.destroy()
      resolve(how)
    }
    child.on('error', (error) => finish(`spawn failed: ${systemReason(error)}`))
    child.on('exit', (_, signal) => {
      group.kill()
      const finishEnded = (): void => finish(this.#status ?? `signal: ${signal ?? 'SIGKILL'}`)
      // The pipes are empty once all who held them are gone.
      if (child.stdout === null || child.stdout.destroyed) finishEnded()
      else child.stdout.once('close', finishEnded)
    })
    return promise
  }
}
