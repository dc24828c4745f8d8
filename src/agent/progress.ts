/**
 * Shows on a terminal what a command waits for, when it waits long.
 *
 * @module
 */
import { type Clock } from '../core/time.ts'
import { type Io, isWatched } from './io.ts'

/** Whoever waits longer wants to know for what. */
const SHOW_AFTER_MS = 2_000
const REFRESH_MS = 1_000
/** Back to the first column, and clear the line. */
export const CLEAR_LINE = '\r\u001b[K'

/**
 * The promise itself; while it is pending, stderr says what is awaited and for how long. Silent off a terminal.
 *
 * @param what is awaited; a function when that changes, such as a count
 */
export async function withProgress<Value>(
  io: Pick<Io, 'stderr' | 'isQuiet'>,
  clock: Clock,
  what: string | (() => string),
  awaited: Promise<Value>,
): Promise<Value> {
  if (!isWatched(io)) return awaited
  const { stderr } = io
  const started = clock.monotonic()
  let shown = false
  let cancel = clock.after(SHOW_AFTER_MS, refresh)
  function refresh(): void {
    const seconds = Math.round((clock.monotonic() - started) / 1_000)
    stderr.write(`${CLEAR_LINE}${typeof what === 'string' ? what : what()} … ${seconds} s`)
    shown = true
    cancel = clock.after(REFRESH_MS, refresh)
  }
  try {
    return await awaited
  } finally {
    cancel()
    if (shown) stderr.write(CLEAR_LINE)
  }
}
