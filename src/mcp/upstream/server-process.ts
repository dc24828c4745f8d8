/**
 * One MCP server as a child process, in a process group of its own that nothing survives.
 *
 * Holds: its output is read as lines of at most {@link MAX_SERVER_LINE_BYTES}; what it says on stderr is kept only as
 * far as it helps; once it was stopped, or has closed its output, the whole group ends.
 *
 * @module
 */
import { type Writable } from 'node:stream'
import { type Env } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type Log } from '../../core/log.ts'
import { type LinePort, openLinePort } from '../adapter/line-port.ts'
import { type Port } from '../port.ts'
import { type GroupDeps, ProcessGroup } from '../programs/process-group.ts'
import { SpokenLines } from '../programs/spoken-lines.ts'
import { systemReason } from '../programs/system-reason.ts'
import { MAX_SERVER_LINE_BYTES, type RunningServer, unavailable } from './running-server.ts'
import { SERVER_LEADER } from './server-leader.ts'

export interface ServerProcessDeps extends GroupDeps {
  readonly log: Log
}

export class ServerProcess implements RunningServer {
  readonly port: Port
  readonly ended: Promise<CtError>
  readonly #group: ProcessGroup
  readonly #lines: LinePort
  readonly #stderr: SpokenLines
  #wasStopped = false
  #status: number | undefined

  /** @throws what the system says when it cannot start a process */
  constructor(command: string, environment: Env, deps: ServerProcessDeps) {
    const group = new ProcessGroup(SERVER_LEADER, command, environment, deps)
    const { stdin, stdout, stderr } = group.child
    if (stdin === null || stdout === null) throw new CtError('ERR_INTERNAL', 'expected a process with pipes')
    this.#group = group
    this.#stderr = new SpokenLines(deps.log, deps.clock)
    stderr?.on('data', (chunk: Uint8Array) => this.#stderr.push(chunk))
    group.watch({ ended: (status) => (this.#status = status) })
    this.ended = this.#watchEnd()
    this.#lines = openLinePort({ input: stdout, write: (line) => writeTo(stdin, line) }, MAX_SERVER_LINE_BYTES)
    const closed = this.#lines.closed.then(async () => {
      group.finish()
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
    this.#group.finish()
  }

  #watchEnd(): Promise<CtError> {
    const { child } = this.#group
    const { promise, resolve } = Promise.withResolvers<CtError>()
    const finish = (how: string): void => {
      this.#group.release()
      resolve(unavailable(how))
    }
    child.on('error', (error) => {
      this.#lines.end(unavailable('could not be started'))
      finish(`could not be started: ${systemReason(error)}`)
    })
    child.on('exit', () => {
      // Nothing but what the server left behind can still be there.
      this.#group.kill()
      const how = this.#status === undefined ? 'by a signal' : `with status ${this.#status}`
      finish(this.#wasStopped ? 'was stopped' : `ended ${how}`)
    })
    return promise
  }
}

function writeTo(stdin: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdin.write(line, (error) => (error ? reject(error) : resolve()))
  })
}
