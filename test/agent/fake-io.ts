/**
 * The process as `run` sees it, without a process.
 *
 * @module
 */
import { EventEmitter } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { type Io } from '../../src/agent/io.ts'
import { run } from '../../src/agent/main.ts'
import { type Env } from '../../src/core/env.ts'

class Sink extends Writable {
  text = ''

  override _write(chunk: Uint8Array, _encoding: string, done: () => void): void {
    this.text += Buffer.from(chunk).toString()
    done()
  }
}

export interface Ended {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Streams that keep what is written to them, and signals that the test gives. */
export function fakeIo({ input = '', isTTY = false }: { readonly input?: string; readonly isTTY?: boolean } = {}) {
  const stdin = new PassThrough()
  stdin.end(input)
  const stdout = Object.assign(new Sink(), { isTTY })
  const stderr = new Sink()
  const signals = new EventEmitter()
  const io = {
    stdin,
    stdout,
    stderr,
    on: signals.on.bind(signals),
    off: signals.off.bind(signals),
    exit: () => {
      throw new Error('expected no exit from within')
    },
    execPath: process.execPath,
    argv: [process.execPath, 'ct-agent'],
  }
  // Only what the commands use of a process is there.
  return { io: io as unknown as Io, stdout, stderr, signals }
}

/** Runs one command line to its end. */
export async function runLine(argv: readonly string[], env: Env = {}, input = ''): Promise<Ended> {
  const { io, stdout, stderr } = fakeIo({ input })
  const status = await run(argv, env, io)
  return { status, stdout: stdout.text, stderr: stderr.text }
}
