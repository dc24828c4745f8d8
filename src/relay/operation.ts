/**
 * What the relay can be asked to do. Each operation is defined once; REST, its description and the tools of MCP are made
 * from that, so they cannot differ in what they check.
 *
 * @module
 */
import { type z } from 'zod'
import { type JsonValue } from '../core/json.ts'
import { type Caller } from './identity/caller.ts'
import { type RelayContext } from './relay-context.ts'

export type Surface = 'rest' | 'mcp'

/** How one request came. */
export interface Asked {
  readonly surface: Surface
  /** Aborts when whoever asked is gone. */
  readonly signal: AbortSignal
  /** Headers that the answer is to have. */
  readonly headers: Headers
  /** Said beside the result, where the surface has room for that. */
  readonly meta: Map<string, JsonValue>
  /** Of the request: so that a repetition has the same answer. */
  readonly idempotencyKey: string | undefined
}

interface Rest {
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete'
  /** As in OpenAPI: `/v1/agents/{agent_id}`. Names in braces are members of the input. */
  readonly path: string
  /** Of a success; 200 unless said. */
  readonly status?: 200 | 201 | 202 | 204
}

interface Tool {
  readonly title: string
  /** It changes nothing. */
  readonly readOnly?: true
  /** It takes something away. */
  readonly destructive?: true
  /** Said after the result, for people and models. */
  readonly note?: (result: unknown) => string | undefined
}

interface Described<Input extends z.ZodObject, Output extends z.ZodType> {
  /** Also the name of the tool, and of the operation in OpenAPI. */
  readonly name: string
  readonly about: string
  readonly rest?: Rest
  readonly tool?: Tool
  readonly input: Input
  readonly output: Output
  /** Nobody needs to sign in for it. */
  readonly isOpen?: true
}

export interface SignedInOperation<Input extends z.ZodObject, Output extends z.ZodType>
  extends Described<Input, Output> {
  readonly run: (relay: RelayContext, caller: Caller, input: z.output<Input>, asked: Asked) => Promise<z.input<Output>>
}

export interface OpenOperation<Input extends z.ZodObject, Output extends z.ZodType> extends Described<Input, Output> {
  readonly isOpen: true
  readonly run: (
    relay: RelayContext,
    caller: Caller | undefined,
    input: z.output<Input>,
    asked: Asked,
  ) => Promise<z.input<Output>>
}

/** An operation whose input was read. */
export interface Operation extends Described<z.ZodObject, z.ZodType> {
  readonly run: (relay: RelayContext, caller: never, input: never, asked: Asked) => Promise<unknown>
}

export function operation<Input extends z.ZodObject, Output extends z.ZodType>(
  described: SignedInOperation<Input, Output>,
): Operation {
  return described
}

export function openOperation<Input extends z.ZodObject, Output extends z.ZodType>(
  described: OpenOperation<Input, Output>,
): Operation {
  return described
}
