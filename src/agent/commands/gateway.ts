/**
 * `ct-agent gateway`: the tools of peers over HTTP, for any MCP host of this machine.
 *
 * @module
 */
import { formatAddress } from '../../channel/index.ts'
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { MCP_PATH } from '../../mcp/http/index.ts'
import { takePeers } from '../calling/ticket-source.ts'
import { type Context } from '../command.ts'
import { openGateway } from '../gateway/gateway.ts'
import { accessRules } from '../gateway/gateway-access.ts'
import { GATEWAY_ENV } from '../gateway/gateway-settings.ts'
import { HOST_ENV } from '../hosting/host-settings.ts'
import { hostedPeers } from '../hosting/hosted-peers.ts'
import { notice, printLine } from '../io.ts'
import { aborted, watchShutdown } from '../shutdown.ts'

export async function gateway(context: Context): Promise<number> {
  const { io, env, clock, log, switches } = context
  const problems: EnvProblem[] = []
  const values = readEnv(GATEWAY_ENV, env, problems)
  const rules = accessRules(values, problems)
  const { roots } = readEnv(HOST_ENV, env, problems)
  refuseProblems(problems)
  const { labels, peers } = hostedPeers(context, await takePeers(context))
  const shutdown = watchShutdown(io, 'ERR_STOPPED')
  try {
    const running = await openGateway({ address: values.address, rules, peers, clock, log, roots })
    try {
      const url = `http://${formatAddress(running.address)}${MCP_PATH}`
      await printLine(io, switches.has('json') ? JSON.stringify({ url, peers: labels }) : url)
      const whom = rules.tokens.length > 0 ? 'hosts that send the token' : 'every program of this machine'
      notice(io, `ct-agent: the tools of ${labels.join(', ')} for ${whom}`)
      await aborted(shutdown.signal)
    } finally {
      await running.close()
    }
    return 0
  } finally {
    shutdown.dispose()
  }
}
