/**
 * A wrapped MCP server as what stands behind an agent: each link gets its own view of it.
 *
 * Holds: a tool that the operator's signed offer does not declare is neither listed nor called, and where there is such
 * an offer nothing beside tools is served. A call that was sent to a server that then ended says that it may have run.
 *
 * @module
 */
import { type Env } from '../../core/env.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type JsonObject } from '../../core/json.ts'
import { type Upstream } from '../serving/upstream-link.ts'
import { type UpstreamConfig } from './config.ts'
import { type ServerConnection } from './server-connection.ts'
import { ServerPool, type ServerPoolDeps } from './server-pool.ts'
import { WrappedLink } from './wrapped-link.ts'
import { type WrappedTool } from './wrapped-tools.ts'

export interface WrappedUpstreamOptions extends ServerPoolDeps {
  /** Whether a tool of that name may be served; without it, all of the server may. */
  readonly allows?: ((tool: string) => boolean) | undefined
}

export interface WrappedUpstream extends Upstream {
  /** Names of the tools, as far as they are known now. */
  readonly toolNames: readonly string[]
  /** Tools that may not be served. */
  readonly refusedNames: readonly string[]
  /** Ends every server. */
  readonly close: () => Promise<void>
}

/**
 * Starts the server to see what there is.
 *
 * @param env the agent's own environment
 * @throws {CtError} `ERR_SERVER_UNAVAILABLE`
 */
export async function openWrapped(
  config: UpstreamConfig,
  env: Env,
  { allows, ...deps }: WrappedUpstreamOptions,
): Promise<WrappedUpstream> {
  const pool = new ServerPool(config, env, deps)
  const isAllowed = ({ name }: WrappedTool): boolean => allows?.(name) !== false
  try {
    const first = await pool.first().ready()
    const known = {
      tools: first.tools,
      capabilities: allows === undefined ? handedOn(first, config) : {},
      instructions: first.instructions,
    }
    return {
      toolNames: known.tools.filter(isAllowed).map(({ name }) => name),
      refusedNames: known.tools.filter((tool) => !isAllowed(tool)).map(({ name }) => name),
      open: (client) =>
        new WrappedLink(client, { pool, known, isAllowed, isWhole: allows === undefined, roots: config.roots }),
      close: () => pool.close(),
    }
  } catch (error) {
    await pool.close()
    throw withLastWords(error)
  }
}

/** What of the server's capabilities is handed on. */
function handedOn({ capabilities }: ServerConnection, { mode }: UpstreamConfig): JsonObject {
  const names = ['completions', ...(mode === 'shared' ? [] : ['logging']), 'prompts', 'resources']
  const there = names.flatMap((name) => {
    const capability = capabilities[name]
    return capability === undefined || capability === null ? [] : [[name, capability] as const]
  })
  return Object.fromEntries(there)
}

/** For the operator, who is the only one to see it. */
function withLastWords(error: unknown): unknown {
  if (!isCtError(error)) return error
  const { lastWords } = error.detail
  if (typeof lastWords !== 'string' || lastWords === '') return error
  return new CtError(error.code, `${error.message}; its last words: ${lastWords}`, { cause: error })
}
