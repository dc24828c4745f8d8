/**
 * Protocol versions and which of them a request speaks.
 *
 * Two eras: *legacy* peers agree on a version once with `initialize`, *modern* peers name it in every request. A peer
 * that does neither speaks the original's dialect.
 *
 * @module
 */

import { isJsonObject } from '../../core/json.ts'
import { printable } from '../../core/printable.ts'
import { metaOf, type Params } from './envelope.ts'
import { RPC_INVALID_PARAMS, RPC_UNSUPPORTED_VERSION, type RpcError } from './rpc-error.ts'

/** Oldest first. */
export const LEGACY_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const

/** Versions that a request may name in `_meta`. */
export const MODERN_VERSIONS = ['2026-07-28'] as const

export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'
export const CLIENT_CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities'
export const CLIENT_INFO_KEY = 'io.modelcontextprotocol/clientInfo'
export const SERVER_INFO_KEY = 'io.modelcontextprotocol/serverInfo'

const OLDEST_LEGACY = LEGACY_VERSIONS[0]
const NEWEST_LEGACY = LEGACY_VERSIONS[3]

/** The version to answer `initialize` with: a known one as asked, else the nearest that both may speak. */
export function negotiateVersion(requested: unknown): string {
  if (typeof requested !== 'string') return OLDEST_LEGACY
  const known = LEGACY_VERSIONS.find((version) => version === requested)
  if (known !== undefined) return known
  return /^\d{4}-\d{2}-\d{2}$/.test(requested) && requested < OLDEST_LEGACY ? OLDEST_LEGACY : NEWEST_LEGACY
}

/**
 * Whether the request speaks the modern dialect, and if so, what is wrong with the way it says it.
 *
 * Checked for every request and cheap for those that carry no `_meta`.
 */
export function readModern(params: Params): { readonly modern: boolean; readonly error?: RpcError } {
  const meta = metaOf(params)
  if (meta === undefined || !Object.hasOwn(meta, VERSION_KEY)) return LEGACY
  const requested = meta[VERSION_KEY]
  if (typeof requested !== 'string') return refuse(`expected \`_meta["${VERSION_KEY}"]\` to be a string`)
  if (!MODERN_VERSIONS.some((version) => version === requested)) {
    const shown = printable(requested, MAX_SHOWN_CHARS)
    return {
      modern: true,
      error: {
        code: RPC_UNSUPPORTED_VERSION,
        message: `unsupported protocol version \`${shown}\``,
        data: { supported: MODERN_VERSIONS, requested: shown },
      },
    }
  }
  if (!isJsonObject(meta[CLIENT_CAPABILITIES_KEY])) {
    return refuse(`expected \`_meta["${CLIENT_CAPABILITIES_KEY}"]\` to be an object`)
  }
  return MODERN
}

const LEGACY = { modern: false } as const
const MODERN = { modern: true } as const

/** Longer than any version there will be. */
const MAX_SHOWN_CHARS = 40

function refuse(message: string): { readonly modern: true; readonly error: RpcError } {
  return { modern: true, error: { code: RPC_INVALID_PARAMS, message } }
}
