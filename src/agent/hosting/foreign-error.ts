/**
 * Errors of servers that stand behind peers.
 *
 * @module
 */
import { type Answer, isJsonObject, RelayedError, relayedAnswer } from '../../mcp/index.ts'

/** What a tool of the original program fails with. */
const TOOL_FAILED = -32000

/** The error as such a server sent it; nothing when it is one of the peer itself, or none. */
export function foreignError(answer: Answer): RelayedError | undefined {
  if (!('error' in answer)) return undefined
  const relayed = relayedAnswer(answer)
  if (!('error' in relayed)) return undefined
  const { code, data } = relayed.error
  const named = isJsonObject(data) ? data['code'] : undefined
  const isOwn = code === TOOL_FAILED || (typeof named === 'string' && named.startsWith('ERR_'))
  return isOwn || answer.error.code === 'ERR_TOOL_UNKNOWN' ? undefined : new RelayedError(answer.error, relayed.error)
}
