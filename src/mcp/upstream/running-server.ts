/**
 * An MCP server that was started or connected to.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type Port } from '../port.ts'

/** Larger than what any peer accepts; beyond it, the request fails whose answer it is. */
export const MAX_SERVER_LINE_BYTES = 67_108_864

export interface RunningServer {
  /** Ends with the server, in why it ended. */
  readonly port: Port
  /** Resolves when it is gone; never rejects. */
  readonly ended: Promise<CtError>
  /** The last it said for people. */
  readonly lastWords: string
  readonly stop: () => void
}

/** @param what became of it */
export function unavailable(what: string): CtError {
  return new CtError('ERR_SERVER_UNAVAILABLE', `the MCP server ${what}`)
}
