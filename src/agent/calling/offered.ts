/**
 * What a peer offers beside its own tools.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { VERSION } from '../../core/version.ts'
import { UPSTREAM_KEY } from '../../mcp/index.ts'
import { type Caller, type CallOptions } from './caller.ts'
import { MODERN } from './tool-list.ts'

/** Kinds such as `resources` and `prompts`, as the peer announces them; nothing where no server stands behind it. */
export async function offeredBy(caller: Pick<Caller, 'call'>, options: CallOptions): Promise<JsonObject | undefined> {
  const answer = await caller.call('server/discover', MODERN, options)
  // Older peers have no such method.
  if ('error' in answer || !isJsonObject(answer.result)) return undefined
  const { _meta: meta, capabilities } = answer.result
  if (meta === undefined || !isJsonObject(meta) || meta[UPSTREAM_KEY] !== true) return undefined
  return capabilities !== undefined && isJsonObject(capabilities) ? capabilities : {}
}

/** Says hello as the older revisions do: only so can a server behind the peer ask and tell. */
export function greeting(abilities: JsonObject): JsonObject {
  return {
    protocolVersion: GREETING_VERSION,
    capabilities: abilities,
    clientInfo: { name: 'ct-agent', version: VERSION },
  }
}

const GREETING_VERSION = '2025-11-25'
