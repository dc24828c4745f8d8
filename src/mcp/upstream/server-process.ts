/**
 * One MCP server as a child process, in a process group of its own that nothing survives.
 *
 * Holds: its output is read as lines of at most {@link MAX_SERVER_LINE_BYTES}; what it says on stderr is kept only as
 * far as it helps; once it was stopped, or has closed its output, the whole group ends.
 *
 * Not covered: a program that leaves the group by `setsid` is out of reach of any signal to it.
 *
 * @module
 */
import { type ChildProcess } from 'node:child_process'
import { type Readable, type Writable } from 'node:stream'
import { type Env } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { type LinePort, openLinePort } from '../adapter/line-port.ts'
import { type Port } from '../port.ts'
import { type ProcessHost } from '../services/process-group.ts'
import { MAX_SERVER_LINE_BYTES, type RunningServer } from './running-server.ts'
import { SERVER_LEADER } from './server-leader.ts'
import { SpokenLines } from './spoken-lines.ts'

/** From the end of its input to TERM: servers of the official SDKs end by themselves. */
const EOF_GRACE_MS = 500
/** From TERM to KILL. */
const TERM_GRACE_MS = 2_000

export interface ServerProcessDeps {
  readonly clock: Clock
  readonly log: Log
  readonly host: ProcessHost
}

export class ServerProcess implements RunningServer {
  readonly port: Port
  readonly ended: Promise<CtError>
  readonly #deps: ServerProcessDeps
  readonly #child: ChildProcess
  readonly #lines: LinePort
  readonly #stderr: SpokenLines
  readonly #timers: (() => void)[] = []
  #isEnding = false
  #wasStopped = false
  #status: string | undefined

  /** @throws what the system says when it cannot start a process */
  constructor(command: string, environment: Env, deps: ServerProcessDeps) {
    this.#deps = deps
    const child = deps.host.spawn('/bin/sh', ['-c', SERVER_LEADER, 'ct-agent-mcp-server', command], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      env: environment,
    })
    const { stdin, stdout } = child
    if (stdin === null || stdout === null) throw new CtError('ERR_INTERNAL', 'expected a process with pipes')
    this.#child = child
    this.#stderr = new SpokenLines(deps.log, deps.clock)
    child.stderr?.on('data', (chunk: Uint8Array) => this.#stderr.push(chunk))
    for (const stream of [stdin, stdout, child.stderr]) stream?.on('error', () => {})
    this.#watchStatus()
    this.ended = this.#watchEnd()
    this.#lines = openLinePort({ input: stdout, write: (line) => writeTo(stdin, line) }, MAX_SERVER_LINE_BYTES)
    const closed = this.#lines.closed.then(async () => {
      this.#end()
      return { reason: await this.ended, final: true }
    })
    // Why nothing can be written says less than why the process ended.
    const send: Port['send'] = (message) =>
      this.#lines.send(message).catch(async () => Promise.reject(await this.ended))
    this.port = { ...this.#lines, send, closed }
  }

  /** From its stderr. */
  get lastWords(): string {
    return this.#stderr.last
  }

  /** Ends its input, and what does not end by that. */
  stop(): void {
    this.#wasStopped = true
    this.#end()
  }

  #end(): void {
    if (this.#isEnding) return
    this.#isEnding = true
    this.#child.stdin?.end()
    this.#after(EOF_GRACE_MS, () => this.#signalGroup('SIGTERM'))
    this.#after(EOF_GRACE_MS + TERM_GRACE_MS, () => this.#signalGroup('SIGKILL'))
  }

  #watchEnd(): Promise<CtError> {
    const child = this.#child
    const { promise, resolve } = Promise.withResolvers<CtError>()
    const finish = (how: string): void => {
      for (const cancel of this.#timers) cancel()
      guardOf(child)?.destroy()
      child.stdin?.destroy()
      resolve(new CtError('ERR_SERVER_UNAVAILABLE', `the MCP server ${how}`))
    }
    child.on('error', (error) => {
      this.#lines.end(new CtError('ERR_SERVER_UNAVAILABLE', 'the MCP server could not be started'))
      finish(`could not be started: ${'code' in error ? String(error.code) : 'unknown reason'}`)
    })
    child.on('exit', () => {
      // Nothing but what the server left behind can still be there.
      this.#signalGroup('SIGKILL')
      finish(this.#wasStopped ? 'was stopped' : `ended ${this.#status ?? 'by a signal'}`)
    })
    return promise
  }

  #watchStatus(): void {
    const pipe = guardOf(this.#child)
    let text = ''
    pipe?.on('error', () => {})
    pipe?.on('data', (chunk: Uint8Array) => {
      text = (text + Buffer.from(chunk).toString('latin1')).slice(0, MAX_STATUS_CHARS)
      const status = /^(\d+)\n/.exec(text)?.[1]
      if (status !== undefined) this.#status = `with status ${status}`
    })
  }

  #signalGroup(signal: NodeJS.Signals): void {
    const { pid } = this.#child
    if (pid === undefined) return
    try {
      this.#deps.host.kill(-pid, signal)
    } catch {
      // Nothing is left of the group, which is what was wanted.
    }
  }

  #after(ms: number, run: () => void): void {
    this.#timers.push(this.#deps.clock.after(ms, run))
  }
}

const MAX_STATUS_CHARS = 16

function writeTo(stdin: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(line, (error) => (error ? reject(error) : resolve()))
  })
}

/** The agent's end of the pipe on descriptor 3 of the leader; a duplex, which node's types do not say. */
function guardOf(child: ChildProcess): (Readable & Writable) | undefined {
  return (child.stdio?.[3] ?? undefined) as (Readable & Writable) | undefined
}
