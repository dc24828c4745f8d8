/**
 * The process as the commands see it: streams and signals, handed in.
 *
 * @module
 */
import { escapeUnprintable } from '../core/printable.ts'

export interface Io
  extends Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr' | 'on' | 'off' | 'exit' | 'execPath' | 'argv'> {
  /** Programs read stderr: it has nothing for people. */
  readonly isQuiet?: true
}

/** The same without any notice. */
export function withoutNotices(io: Io): Io {
  const { stdout, stderr, execPath, argv } = io
  return {
    // A process opens its stdin when it is looked at.
    get stdin() {
      return io.stdin
    },
    stdout,
    stderr,
    execPath,
    argv,
    on: io.on.bind(io),
    off: io.off.bind(io),
    exit: io.exit.bind(io),
    isQuiet: true,
  }
}

/** Somebody sees at once what is written to stderr, and may be shown what will be gone again. */
export function isWatched({ stderr, isQuiet }: Pick<Io, 'stderr' | 'isQuiet'>): boolean {
  return stderr.isTTY === true && isQuiet !== true
}

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
  if (io.isQuiet === true) return
  const lines = text.split('\n').map(escapeUnprintable)
  io.stderr.write(`${lines.join('\n')}\n`)
}
