/**
 * `ct-agent mcp-config`: what makes an MCP host use the tools of a peer.
 *
 * @module
 */
import { resolve } from 'node:path'
import { parseTicket } from '../../channel/index.ts'
import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { TICKET_ENV } from '../calling/call-settings.ts'
import { takePeers } from '../calling/ticket-source.ts'
import { type Context } from '../command.ts'
import { HOSTS, type HostName, hostConfig, programAgain } from '../hosting/host-config.ts'
import { knownName, refuseTwice } from '../hosting/named-peers.ts'
import { notice, printLine } from '../io.ts'
import { defaultNames, looksLikeTicket } from '../peers/peer-name.ts'
import { COMMON_ENV } from '../settings.ts'

export async function mcpConfig(context: Context): Promise<number> {
  const { io, switches, values } = context
  const host = readHost(values.get('for'))
  const given = await takePeers(context)
  const tickets = given.filter(looksLikeTicket)
  if (tickets.length > 1 || (tickets.length === 1 && given.length > 1)) {
    throw new CtError('ERR_USAGE', 'expected names of peers, or one ticket: join the others first (ct-agent join)')
  }
  const [ticket] = tickets
  const peers = ticket === undefined ? given.map((name) => knownName(context, name)) : []
  refuseTwice(peers)
  const name = ticket === undefined ? peers.join('-') : defaultNames(parseTicket(ticket).holder)[0]
  const folder = COMMON_ENV.stateDir.name
  const env = {
    ...(ticket === undefined ? {} : { [TICKET_ENV.ticket.name]: ticket.replace(/\s+/g, '') }),
    // Where none was named, a host finds the same one.
    ...(context.env[folder] === undefined ? {} : { [folder]: resolve(context.stateDir) }),
  }
  const program = programAgain(io.execPath, resolve(io.argv[1] ?? ''))
  const { text, where } = hostConfig(host, { program, name: name.replaceAll('.', '-'), peers, env })
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
