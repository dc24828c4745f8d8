/**
 * Processes that were started, directly or not, with a variable that nobody else has.
 *
 * Read from `/proc`; a zombie has no environment any more and is not among them.
 *
 * @module
 */
import { readdirSync, readFileSync } from 'node:fs'

export interface Marked {
  readonly pid: number
  /** Arguments, separated by blanks. */
  readonly words: string
}

/** @param mark as in `NAME=value` */
export function markedProcesses(mark: string): readonly Marked[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && textOf(`/proc/${name}/environ`).split('\0').includes(mark))
    .map((name) => ({ pid: Number(name), words: textOf(`/proc/${name}/cmdline`).replaceAll('\0', ' ') }))
}

/** False when it had ended by itself. */
export function killed({ pid }: Marked): boolean {
  try {
    return process.kill(pid, 'SIGKILL')
  } catch {
    return false
  }
}

/** Nothing of what is gone, or somebody else's. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
