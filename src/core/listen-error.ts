/**
 * Why nobody can listen somewhere.
 *
 * @module
 */
import { CtError } from './errors.ts'

/** @param where for people */
export function listenError(error: unknown, where: string): CtError {
  const [message, cause] = error instanceof Error ? [error.message, String(error.cause)] : [String(error), '']
  if (`${message} ${cause}`.includes('EADDRINUSE')) {
    return new CtError('ERR_ADDRESS_IN_USE', `expected a free port at ${where}, found it in use`, { cause: error })
  }
  return new CtError('ERR_ADDRESS_UNAVAILABLE', `cannot listen at ${where}: ${message}`, { cause: error })
}
