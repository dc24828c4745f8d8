/**
 * One running process of the built program, with everything it has said so far.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { type Env } from '../../src/core/env.ts'
import { isRunning, until } from '../mcp/services/processes.ts'

/** For a machine that does much else. */
const DEADLINE_MS = 30_000

export interface Exit {
  readonly status: number | null
  readonly signal: NodeJS.Signals | null
}

export interface StartOptions {
  readonly env: Env
  readonly folder: string
  /** Another program than Node 24 with the built file, such as a shell that redirects. */
  readonly command?: readonly [string, ...string[]]
  /** Stdout is left alone, for tests that read it themselves or not at all. */
  readonly ownStdout?: true
}

export class Agent {
  readonly child: ChildProcess
  readonly exit: Promise<Exit>
  stderr = ''
  readonly #stdout: Uint8Array[] = []
  #exit: Exit | undefined

  constructor(program: readonly string[], { env, folder, command = [process.execPath], ownStdout }: StartOptions) {
    const [file, ...first] = command
    this.child = spawn(file, [...first, ...program], { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] })
    this.child.on('error', () => {})
    this.child.stdin?.on('error', () => {})
    if (ownStdout !== true) this.child.stdout?.on('data', (chunk: Uint8Array) => this.#stdout.push(chunk))
    this.child.stderr?.on('data', (chunk: Uint8Array) => {
      this.stderr += Buffer.from(chunk).toString()
    })
    this.exit = new Promise((resolve) => {
      this.child.on('close', (status, signal) => {
        this.#exit = { status, signal }
        resolve(this.#exit)
      })
    })
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error('the program did not start')
    return this.child.pid
  }

  get output(): Uint8Array {
    return Buffer.concat(this.#stdout)
  }

  get stdout(): string {
    return Buffer.concat(this.#stdout).toString()
  }

  /** Whole lines of stdout. */
  get lines(): readonly string[] {
    return this.stdout.split('\n').slice(0, -1)
  }

  write(text: string | Uint8Array): this {
    this.child.stdin?.write(text)
    return this
  }

  end(text?: string | Uint8Array): this {
    this.child.stdin?.end(text)
    return this
  }

  signal(name: NodeJS.Signals): void {
    this.child.kill(name)
  }

  /** Ends it for certain; resolves when it is gone. */
  async kill(): Promise<void> {
    if (this.child.pid === undefined) return
    this.child.kill('SIGKILL')
    await until(`the end of ${this.child.pid}`, () => this.#exit !== undefined || !isRunning(this.pid))
  }

  /** Waits until stdout has so many lines, and returns the last of them. */
  async line(count = 1): Promise<string> {
    await this.#until(`${count} lines on stdout`, () => this.lines.length >= count)
    return this.lines[count - 1] ?? ''
  }

  /** Waits for the pattern on stderr, and returns its first group, or all that matched. */
  async says(pattern: RegExp): Promise<string> {
    await this.#until(`${pattern.source} on stderr`, () => pattern.test(this.stderr))
    const match = pattern.exec(this.stderr)
    return match?.[1] ?? match?.[0] ?? ''
  }

  async #until(what: string, holds: () => boolean): Promise<void> {
    await until(what, () => holds() || this.#exit !== undefined, DEADLINE_MS).catch((error: Error) => {
      throw new Error(`${error.message}, found ${this.#said()}`)
    })
    if (!holds()) throw new Error(`expected ${what}, found ${this.#said()}`)
  }

  #said(): string {
    const ended = this.#exit === undefined ? 'running' : `ended with ${JSON.stringify(this.#exit)}`
    return `${ended}, stdout ${JSON.stringify(this.stdout.slice(-2_000))}, stderr ${JSON.stringify(this.stderr.slice(-2_000))}`
  }
}
