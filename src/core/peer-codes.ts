/**
 * Which codes of the catalogue a peer may give as a reason.
 *
 * @module
 */
import { type ErrorCode, isErrorCode } from './errors.ts'

/** Codes that speak about the machine they occur on: from a peer they would mislead about ours. */
const LOCAL_CODES: ReadonlySet<ErrorCode> = new Set([
  'ERR_AGENT_NOT_RUNNING',
  'ERR_AUDIT_BROKEN',
  'ERR_INTERNAL',
  'ERR_USAGE',
  'ERR_CONFIG_INVALID',
  'ERR_TICKET_INVALID',
  'ERR_PEER_UNKNOWN',
  'ERR_PEER_NAME_TAKEN',
  'ERR_RELAY_REFUSED',
  'ERR_STOPPED',
  'ERR_STATE_UNAVAILABLE',
  'ERR_ADDRESS_IN_USE',
  'ERR_ADDRESS_UNAVAILABLE',
  'ERR_ORIGIN_REFUSED',
])

/** True for a code that a peer may give as a reason. */
export function isPeerErrorCode(text: unknown): text is ErrorCode {
  return isErrorCode(text) && !LOCAL_CODES.has(text)
}
