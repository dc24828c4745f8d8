/**
 * SIGTERM and SIGINT: the first asks for an orderly end, the second ends the process at once.
 *
 * @module
 */
import { CtError } from '../core/errors.ts'
import { type Io } from './io.ts'

const SIGNALS = ['SIGTERM', 'SIGINT'] as const
/** What shells report for a process that a signal ended: 128 and the signal's number. */
const EXIT_STATUS = { SIGTERM: 143, SIGINT: 130 } as const

export interface Shutdown {
  /** Aborts at the first signal, with an error that names it. */
  readonly signal: AbortSignal
  /** Gives the signals back. */
  readonly dispose: () => void
}

/** @param code of what is stopped: a call to somebody, or what a command does by itself */
export function watchShutdown(io: Io, code: 'ERR_CALL_CANCELLED' | 'ERR_STOPPED' = 'ERR_CALL_CANCELLED'): Shutdown {
  const controller = new AbortController()
  const handlers = SIGNALS.map((name) => {
    const handler = (): void => {
      if (controller.signal.aborted) io.exit(EXIT_STATUS[name])
      controller.abort(new CtError(code, `stopped by ${name}`))
    }
    io.on(name, handler)
    return { name, handler }
  })
  return {
    signal: controller.signal,
    dispose: () => {
      for (const { name, handler } of handlers) io.off(name, handler)
    },
  }
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => onAbort(signal, resolve))
}

/** Acts when the signal aborts, or now when it has. */
export function onAbort(signal: AbortSignal, act: () => void): void {
  if (signal.aborted) act()
  else signal.addEventListener('abort', () => act(), { once: true })
}
