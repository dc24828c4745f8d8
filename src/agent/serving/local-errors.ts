/**
 * What goes wrong on this machine while a peer's request is answered.
 *
 * Holds: the peer learns that it did, and a reference; the log alone has the rest, such as paths. Our own codes for it
 * would mislead the peer about its own machine.
 *
 * @module
 */
import { isCtError } from '../../core/errors.ts'
import { isPeerErrorCode } from '../../core/peer-codes.ts'

/** The work's result; an error that concerns this machine alone becomes one that is only logged. */
export function hideLocalErrors<Result>(work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    const code: string | undefined = isCtError(error) ? error.code : undefined
    if (code === undefined || isPeerErrorCode(code)) throw error
    throw new Error(`${code}: ${error instanceof Error ? error.message : ''}`, { cause: error })
  }
}
