/**
 * What a seller refuses, in its log.
 *
 * Holds: the log has who asked and why it was refused; never what was asked, which strangers choose.
 *
 * @module
 */
import { isCtError } from '../../core/errors.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { type Log } from '../../core/log.ts'
import { hideLocalErrors } from './local-errors.ts'

/** The work's result; a refusal is logged, and goes to the peer like any other. */
export function loggingRefusal<Result>(
  log: Pick<Log, 'info' | 'debug'>,
  event: string,
  peer: HolderId,
  work: () => Result,
): Result {
  try {
    return hideLocalErrors(work)
  } catch (error) {
    if (isCtError(error)) {
      const { reason } = error.detail
      // Whoever floods is over the limit most of the time, and must not flood the log.
      const write = reason === 'rate_limited' ? log.debug : log.info
      write(event, {
        peer: shortId(peer),
        code: error.code,
        ...(typeof reason === 'string' ? { reason } : {}),
      })
    }
    throw error
  }
}
