/**
 * Why sessions end or do not begin.
 *
 * @module
 */
import { CtError } from '../core/errors.ts'
import { type SessionMode } from './hello.ts'

/** A caller needs a server and a pipe a pipe; `undefined` when the two sides fit. */
export function modeMismatch(local: SessionMode, remote: SessionMode): CtError | undefined {
  const fits = local === 'pipe' ? remote === 'pipe' : local !== remote && remote !== 'pipe'
  if (fits) return undefined
  return new CtError(
    'ERR_PEER_REFUSED',
    `expected one side to serve and the other to call, or both to pipe, found ${local} and ${remote}`,
  )
}

/** The link broke without a bye. */
export function lost(error: Error | undefined): CtError {
  const options = error === undefined ? {} : { cause: error }
  return new CtError('ERR_LINK_LOST', 'the connection broke without a word', options)
}

/** The peer takes nothing of what waits for it. */
export function slow(queuedBytes: number): CtError {
  return new CtError('ERR_PEER_SLOW', `the peer does not read: ${queuedBytes} bytes wait for it`)
}

export function tooLarge(bytes: number, limit: number): CtError {
  return new CtError('ERR_MESSAGE_TOO_LARGE', `expected a message of at most ${limit} bytes, found ${bytes}`, {
    detail: { bytes, limit },
  })
}
