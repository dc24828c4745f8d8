/**
 * Results of the newest revision that ask something first: the client answers in the same request, sent again.
 *
 * @module
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { readJsonValue } from '../../core/exact-json.ts'
import { isJsonObject, type JsonObject, type JsonValue } from '../../core/json.ts'
import { metaOf, type Params } from './envelope.ts'
import { CLIENT_CAPABILITIES_KEY } from './versions.ts'

/** What has to be answered before there is a result. */
export class InputRequired {
  /** By names of this side's choice: `{method, params}`. */
  readonly requests: JsonObject
  /** Comes back with the answers. */
  readonly state: string

  constructor(requests: JsonObject, state: string) {
    this.requests = requests
    this.state = state
  }

  get result(): JsonObject {
    return { inputRequests: this.requests, requestState: this.state, resultType: 'input_required' }
  }
}

/** What a request of the newest revision says about being asked something first. */
export interface Round {
  /** What the client can do. */
  readonly declares: JsonObject
  /** Present where the request was sent before and is sent again. */
  readonly state: string | undefined
  /** By the names of what was asked. */
  readonly answers: Readonly<Record<string, JsonValue>>
}

/** @param text of the parameters, in which no integer has lost a digit */
export function readRound(params: Params, text: () => string): Round {
  const declares = declaredIn(params) ?? {}
  const state = stateIn(params)
  if (state === undefined) return { declares, state, answers: {} }
  const exact = readJsonValue(text())
  const answers = isJsonObject(exact) ? exact['inputResponses'] : undefined
  return { declares, state, answers: isJsonObject(answers) ? answers : {} }
}

/** What the client can do, as each of its requests says. */
export function declaredIn(params: Params): JsonObject | undefined {
  const declares = metaOf(params)?.[CLIENT_CAPABILITIES_KEY]
  return isJsonObject(declares) ? declares : undefined
}

export function stateIn(params: Params): string | undefined {
  const state = isJsonObject(params) ? params['requestState'] : undefined
  return typeof state === 'string' ? state : undefined
}
