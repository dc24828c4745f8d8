/**
 * Methods of an agent beside those of MCP.
 *
 * @module
 */
import { type JsonValue } from '../../core/json.ts'
import { type CallContext } from '../tool.ts'
import { type Params } from '../wire/envelope.ts'

export interface ExtensionContext extends CallContext {
  /** The parameters as the peer wrote them, `{}` if it sent none: JSON text in which no integer has lost a digit. */
  readonly paramsText: string
}

/**
 * Answers a request with its value, which is the same whatever version of MCP the peer speaks.
 *
 * Executing the same request again must do no harm: whoever may have lost an answer asks again, and the ledger lets it.
 *
 * @returns the result; integers beyond 2^53 as `toJsonValue` makes them
 * @throws {CtError} with a message fit for the peer; its code, and a text `reason` in its detail, are shown to programs
 */
export type ExtensionMethod = (params: Params, context: ExtensionContext) => Promise<JsonValue> | JsonValue

/** By their names, which must not be those of built-in methods. */
export type ExtensionMethods = ReadonlyMap<string, ExtensionMethod>
