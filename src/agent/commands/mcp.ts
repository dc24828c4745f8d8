/**
 * `ct-agent mcp`: a local MCP server for a host, whose tools are those of peers.
 *
 * @module
 */
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { openLinePort } from '../../mcp/adapter/index.ts'
import { takePeers } from '../calling/ticket-source.ts'
import { type Context } from '../command.ts'
import { serveHost } from '../hosting/host-session.ts'
import { HOST_ENV } from '../hosting/host-settings.ts'
import { hostedPeers } from '../hosting/hosted-peers.ts'
import { write } from '../io.ts'
import { watchShutdown } from '../shutdown.ts'

export async function mcp(context: Context): Promise<number> {
  const { io, env, clock, log } = context
  const problems: EnvProblem[] = []
  const { roots } = readEnv(HOST_ENV, env, problems)
  refuseProblems(problems)
  const { peers } = hostedPeers(context, await takePeers(context))
  const shutdown = watchShutdown(io, 'ERR_STOPPED')
  try {
    const port = openLinePort({ input: io.stdin, write: (line) => write(io.stdout, line) })
    await serveHost(port, { peers, clock, log, roots, signal: shutdown.signal })
    return 0
  } finally {
    shutdown.dispose()
  }
}
