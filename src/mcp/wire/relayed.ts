/**
 * The answer of another server, to be handed on as it is.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type RpcError } from './rpc-error.ts'

/** A result as JSON text, or an error. */
export type Relayed = { readonly resultText: string } | { readonly error: RpcError }

/** An error of another server on its way to who asked. */
export class RelayedError extends CtError {
  readonly rpc: RpcError

  constructor(error: CtError, rpc: RpcError) {
    super(error.code, error.message, { cause: error })
    this.rpc = rpc
  }
}
