/**
 * What a failed dial means.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'

/** @param where what was dialled, for people */
export function dialFailure(where: string, error: unknown): CtError {
  if (error instanceof CtError) return error
  const text = error instanceof Error ? `${error.name} ${error.message}` : String(error)
  if (/does not match expected remote identity key|UnexpectedPeer/.test(text)) {
    const message = `another key than the expected one answers at ${where}`
    return new CtError('ERR_PEER_KEY_MISMATCH', message, { cause: error })
  }
  return new CtError('ERR_PEER_UNREACHABLE', `${where}: ${dialProblem(text)}`, { cause: error })
}

function dialProblem(text: string): string {
  return /ECONNREFUSED/.test(text)
    ? 'connection refused'
    : /does not speak/.test(text)
      ? 'what answers there is neither a peer nor a broker'
      : /timed? ?out|TimeoutError|aborted/i.test(text)
        ? 'no answer in time'
        : text
}
