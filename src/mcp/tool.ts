/**
 * What a tool is, and the set of tools one agent serves.
 *
 * Holds: names are unique, and the list is the same for every peer, sorted by the bytes of the names. A tool says what
 * went wrong by throwing a `CtError`: its message is shown to the peer. Anything else it throws stays in the log.
 *
 * @module
 */
import { encodeUtf8 } from '../core/bytes.ts'
import { CtError } from '../core/errors.ts'
import { type HolderId } from '../core/ids.ts'
import { type JsonObject, type JsonValue } from '../core/json.ts'
import { type InputRequired, type Round } from './wire/input-required.ts'
import { type Progress } from './wire/progress.ts'
import { type Relayed } from './wire/relayed.ts'

/** A JSON Schema whose root is an object; `properties` is always there because some hosts insist on it. */
export type ObjectSchema = JsonObject & {
  readonly type: 'object'
  readonly properties: JsonObject
}

/** Hints for hosts; a peer must not rely on them. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

export interface CallContext {
  /** The authenticated caller. */
  readonly peer: HolderId
  /** The same for every re-send of one call: `<instance>-<sequence>`; random for calls that cannot be re-sent. */
  readonly callId: string
  /** Aborts when the caller cancels, or is gone for good. */
  readonly signal: AbortSignal
  /** The arguments as the peer wrote them, `{}` if it sent none: JSON text in which no integer has lost a digit. */
  readonly argumentsText: string
  /** Tells the caller how far the call is, if it asked for that: best effort, and nothing that does not grow. */
  readonly progress: (progress: Progress) => void
  /** The caller asked for it. */
  readonly wantsProgress?: boolean
  /** Present where the caller can be asked something in the result. */
  readonly round?: Round | undefined
}

export interface Tool {
  readonly name: string
  readonly description: string
  /** Name for people, when it differs from `name`. */
  readonly title?: string
  readonly inputSchema: ObjectSchema
  /** Only for results whose shape the agent itself guarantees: clients refuse a success that does not match. */
  readonly outputSchema?: ObjectSchema
  readonly annotations?: ToolAnnotations
  /** Pictures for people: `src`, and what else the revisions have. */
  readonly icons?: readonly JsonObject[]
  /** More facts for programs, by names with a prefix of their own. */
  readonly meta?: JsonObject
  /** Executing the same call again does no harm. */
  readonly idempotent: boolean
  /**
   * Runs the tool. The arguments are whatever JSON the peer sent, an empty object if it sent none.
   *
   * @returns the result, integers beyond 2^53 as `toJsonValue` makes them; or, where there is a round, what comes first
   * @throws {CtError} with a message fit for the peer; a text `reason` in its detail is shown to programs
   */
  readonly call: (args: unknown, context: CallContext) => Promise<JsonValue | InputRequired> | JsonValue | InputRequired
  /** Of a tool of another server, in place of `call`: its answer goes to the peer as it is. Throws as `call` does. */
  readonly relay?: (context: CallContext, params: string) => Promise<Relayed>
  /** Of a tool of another server: how it is listed, in place of what is made of the other members. */
  readonly listed?: JsonObject
}

export interface ToolRegistry {
  /** Sorted by the bytes of the names. */
  readonly list: readonly Tool[]
  readonly find: (name: string) => Tool | undefined
}

/** A name that an agent gives to a tool of its own, or may give in another version. */
export function isOwnName(name: string): boolean {
  return /^(?:ping$|(?:agent|auction|service|ct-agent)\/)/.test(name)
}

/** @throws {CtError} `ERR_CONFIG_INVALID` when two tools have one name */
export function createToolRegistry(tools: Iterable<Tool>): ToolRegistry {
  const byName = new Map<string, Tool>()
  for (const tool of tools) {
    if (byName.has(tool.name)) {
      throw new CtError('ERR_CONFIG_INVALID', `expected tool names to differ, found \`${tool.name}\` twice`, {
        detail: { tool: tool.name },
      })
    }
    byName.set(tool.name, tool)
  }
  return { list: sortedByName([...byName.values()]), find: (name) => byName.get(name) }
}

/** By the bytes of the names. */
export function sortedByName(tools: readonly Tool[]): readonly Tool[] {
  const keyed = tools.map((tool) => ({ tool, key: encodeUtf8(tool.name) }))
  return keyed.sort((left, right) => Buffer.compare(left.key, right.key)).map(({ tool }) => tool)
}

/** The liveness check that every served channel has. */
export const pingTool: Tool = {
  name: 'ping',
  description: 'liveness check → returns pong',
  inputSchema: { type: 'object', properties: {} },
  outputSchema: {
    type: 'object',
    properties: { reply: { type: 'string', const: 'pong' } },
    required: ['reply'],
  },
  annotations: {
    readOnlyHint: true,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: false,
  },
  idempotent: true,
  call: () => ({ reply: 'pong' }),
}
