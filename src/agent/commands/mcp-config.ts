/**
 * `ct-agent mcp-config`: what makes an MCP host use the tools of a peer.
 *
 * @module
 */
import { parseTicket } from '../../channel/index.ts'
import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { TICKET_ENV } from '../calling/call-settings.ts'
import { takePeers } from '../calling/ticket-source.ts'
import { type Context } from '../command.ts'
import { HOSTS, type HostName, hostConfig } from '../hosting/host-config.ts'
import { notice, printLine } from '../io.ts'
import { defaultNames, looksLikeTicket, parsePeerName } from '../peers/peer-name.ts'

export async function mcpConfig(context: Context): Promise<number> {
  const { io, switches, values } = context
  const host = readHost(values.get('for'))
  const given = await takePeers(context)
  const tickets = given.filter(looksLikeTicket)
  if (tickets.length > 1 || (tickets.length === 1 && given.length > 1)) {
    throw new CtError('ERR_USAGE', 'expected names of peers, or one ticket: join the others first (ct-agent join)')
  }
  const [ticket] = tickets
  const peers = ticket === undefined ? given.map(nameOf) : []
  const name = ticket === undefined ? peers.join('-') : defaultNames(parseTicket(ticket).holder)[0]
  const env = ticket === undefined ? {} : { [TICKET_ENV.ticket.name]: ticket.replace(/\s+/g, '') }
  const { text, where } = hostConfig(host, { name: name.replaceAll('.', '-'), peers, env })
  if (switches.has('json')) await printLine(io, JSON.stringify({ host, text, where }))
  else await printLine(io, text)
  notice(io, `ct-agent: ${where}`)
  if (ticket !== undefined) notice(io, 'ct-agent: the ticket in it is a secret')
  return 0
}

function readHost(text: string | undefined): HostName {
  const host = HOSTS.find((name) => name === text)
  if (host !== undefined) return host
  const found = text === undefined ? 'nothing' : quote(text)
  throw new CtError('ERR_USAGE', `expected --for ${HOSTS.join('|')}, found ${found}`)
}

function nameOf(text: string): string {
  const name = parsePeerName(text)
  if ('problem' in name) throw new CtError('ERR_USAGE', name.problem)
  return name.value
}
