/**
 * The process as the commands see it: streams and signals, handed in.
 *
 * @module
 */
import { escapeUnprintable } from '../core/printable.ts'

export type Io = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'on' | 'off' | 'exit' | 'execPath' | 'argv'>

/** Writes text; resolves when the stream took it, rejects when nobody reads it any more. */
export function write(stream: NodeJS.WritableStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => (error ? reject(error) : resolve()))
  })
}

/** One result line on stdout. */
export function printLine(io: Io, text: string): Promise<void> {
  return write(io.stdout, `${text}\n`)
}

/** Lines for people on stderr, fit to show whatever a peer's words in them; nobody waits for them. */
export function notice(io: Io, text: string): void {
  const lines = text.split('\n').map(escapeUnprintable)
  io.stderr.write(`${lines.join('\n')}\n`)
}
