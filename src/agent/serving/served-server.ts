/**
 * The MCP server that an agent serves beside its own tools.
 *
 * Holds: a signed offer is its ceiling too: of its tools only those that the offer declares are served, and nothing else
 * of it, since an offer cannot declare that.
 *
 * @module
 */
import { type Env, quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { systemProcesses } from '../../mcp/services/index.ts'
import { type WrappedUpstream } from '../../mcp/upstream/index.ts'
import { type Io, notice } from '../io.ts'
import { ceilingOf } from './ceiling.ts'
import { type ServingPlan } from './serving-plan.ts'

const MAX_SHOWN = 20

interface ServerDeps {
  readonly io: Io
  readonly env: Env
  readonly clock: Clock
  readonly log: Log
}

/** @throws {CtError} `ERR_SERVER_UNAVAILABLE`; `ERR_CONFIG_INVALID` when nothing is left of it to serve */
export async function openUpstream(
  { upstream: config, offer }: ServingPlan,
  { io, env, clock, log }: ServerDeps,
): Promise<WrappedUpstream | undefined> {
  if (config === undefined) return undefined
  const allows = ceilingOf(offer)
  // Loaded only where there is such a server: it brings Node's whole HTTP along.
  const { openWrapped } = await import('../../mcp/upstream/index.ts')
  const upstream = await openWrapped(config, env, { clock, log, host: systemProcesses, random: Math.random, allows })
  if (offer === undefined) return upstream
  sayRefused(io, upstream.refusedNames)
  if (upstream.toolNames.length > 0) return upstream
  await upstream.close()
  throw new CtError(
    'ERR_CONFIG_INVALID',
    'no tool of the MCP server is left to serve: the signed offer declares none of them; declare there what is to be served, or serve without the offer',
  )
}

function sayRefused(io: Io, names: readonly string[]): void {
  if (names.length === 0) return
  const shown = names.slice(0, MAX_SHOWN).map(quote).join(', ')
  notice(
    io,
    `ct-agent: not served, since the signed offer does not declare it: ${names.length} tool(s) of the MCP server: ${shown}`,
  )
}
