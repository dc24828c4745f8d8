/**
 * The answer to a message of which only the beginning was kept.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type IncomingMessage } from '../../core/link.ts'
import { errorText, NO_ID } from './envelope.ts'
import { readHead } from './head.ts'
import { codedError, RPC_INVALID_REQUEST } from './rpc-error.ts'

/** None for what was itself an answer. */
export function refuseOversize(
  { head, totalBytes }: Extract<IncomingMessage, { readonly kind: 'oversize' }>,
  limitBytes: number,
): string | undefined {
  const { id = NO_ID, isResponse } = readHead(head)
  if (isResponse) return undefined
  const message = `expected a message of at most ${limitBytes} bytes, found ${totalBytes}`
  return errorText(id, codedError(new CtError('ERR_MESSAGE_TOO_LARGE', message), RPC_INVALID_REQUEST))
}
