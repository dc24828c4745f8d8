/**
 * Whether this agent could listen where it is to listen.
 *
 * @module
 */
import { createServer } from 'node:net'
import { type Address, formatAddress } from '../../channel/index.ts'
import { toCtError } from '../../core/errors.ts'
import { askAgents } from '../observing/status-client.ts'
import { type Finding, type FindingCode, found } from './catalogue.ts'

const CODES: ReadonlyMap<unknown, FindingCode> = new Map([
  ['EADDRINUSE', 'port.in_use'],
  ['EACCES', 'port.forbidden'],
  ['EADDRNOTAVAIL', 'port.not_here'],
  ['EAFNOSUPPORT', 'port.not_here'],
  ['ENOTFOUND', 'port.not_here'],
  ['EAI_AGAIN', 'port.not_here'],
])

export async function checkPorts(addresses: readonly Address[], stateDir: string): Promise<readonly Finding[]> {
  return Promise.all(addresses.map((address) => checkPort(address, stateDir)))
}

async function checkPort(address: Address, stateDir: string): Promise<Finding> {
  const where = formatAddress(address)
  const problem = await tryToListen(address)
  if (problem === undefined)
    return found('port.ok', address.port === 0 ? `${where}: a free one is taken` : `${where} is free`)
  const code = CODES.get(problem.code) ?? 'port.not_here'
  if (code === 'port.in_use' && (await isOwnAgent(address, stateDir))) {
    return found('port.own_agent', `at ${where} an agent of this state folder listens`)
  }
  const reason = code === 'port.in_use' ? 'another program listens there' : problem.message
  return found(code, `${where}: ${reason}`, code === 'port.in_use' ? 'ERR_ADDRESS_IN_USE' : 'ERR_ADDRESS_UNAVAILABLE')
}

interface Problem {
  readonly code: unknown
  readonly message: string
}

function tryToListen({ host, port }: Address): Promise<Problem | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', (error) => {
      resolve({ code: 'code' in error ? error.code : undefined, message: toCtError(error).message })
    })
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)))
  })
}

async function isOwnAgent({ port }: Address, stateDir: string): Promise<boolean> {
  try {
    const { agents } = await askAgents(stateDir)
    return agents.some(
      ({ addresses }) => Array.isArray(addresses) && addresses.some((at) => String(at).endsWith(`:${port}`)),
    )
  } catch {
    return false
  }
}
