/**
 * What a request is answered with that goes no further. Always a JSON-RPC error, with the id where it is known.
 *
 * @module
 */
import { CtError, type ErrorCode } from '../../core/errors.ts'
import { errorText, type IdText, NO_ID } from '../wire/envelope.ts'
import { codedError, type RpcError } from '../wire/rpc-error.ts'
import { type Headers, type HttpReply } from './http.ts'

export interface Refusal {
  readonly status: number
  readonly error: RpcError
  readonly headers?: Headers
  /** Of the request, where it is known. */
  readonly id?: IdText
}

export function refuse(
  status: number,
  code: ErrorCode,
  message: string,
  { number, headers }: { readonly number?: number; readonly headers?: Headers } = {},
): Refusal {
  const error = codedError(new CtError(code, message), number)
  return headers === undefined ? { status, error } : { status, error, headers }
}

export const JSON_TYPE: Headers = { 'content-type': 'application/json', 'cache-control': 'no-store' }

export function answerRefusal(
  reply: HttpReply,
  { status, error, headers = {}, id = NO_ID }: Refusal,
  shared: Headers,
): void {
  reply.answer(status, { ...shared, ...JSON_TYPE, ...headers }, errorText(id, error))
}
