/**
 * `ct-agent status`: asks the agents of this state folder that run how they are.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { askAgents } from '../observing/status-client.ts'
import { statusLines } from '../observing/status-view.ts'

export async function status({ io, switches, stateDir, clock }: Context): Promise<number> {
  const { agents, silent } = await askAgents(stateDir)
  if (agents.length === 0) {
    const who = silent === 0 ? 'expected an agent of this state folder to run, found none' : 'the agent does not answer'
    throw new CtError('ERR_AGENT_NOT_RUNNING', `${who} (${stateDir})`)
  }
  if (silent > 0) notice(io, `ct-agent: ${silent} more that ${silent === 1 ? 'does' : 'do'} not answer`)
  if (switches.has('json')) {
    await printLine(io, JSON.stringify({ agents, silent }))
    return 0
  }
  const bold = io.stdout.isTTY === true ? (text: string) => `\u001b[1m${text}\u001b[0m` : (text: string) => text
  const blocks = agents.map((agent) => statusLines(agent, clock.now(), bold).join('\n'))
  await printLine(io, blocks.join('\n\n'))
  return 0
}
