/**
 * Whether the names of the peer and the broker have addresses. No other name is asked for.
 *
 * @module
 */
import { isIP } from 'node:net'
import { type Address } from '../../channel/index.ts'
import { type Finding, found } from './catalogue.ts'

/** As `dns.promises.lookup`. */
export type LookUp = (name: string) => Promise<{ readonly address: string }>

export async function checkNames(addresses: readonly Address[], lookUp: LookUp): Promise<readonly Finding[]> {
  const names = [...new Set(addresses.map(({ host }) => host).filter((host) => isIP(host) === 0))]
  if (names.length === 0) return [found('dns.skipped', 'no name is needed')]
  return Promise.all(names.map((name) => checkName(name, lookUp)))
}

async function checkName(name: string, lookUp: LookUp): Promise<Finding> {
  try {
    const { address } = await lookUp(name)
    return found('dns.ok', `${name} is ${address}`)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    return code === 'ENOTFOUND' || code === 'ENODATA'
      ? found('dns.not_found', `nobody knows ${name}`, 'ERR_PEER_UNREACHABLE')
      : found('dns.dead', `no resolver answers what ${name} is (${String(code)})`, 'ERR_PEER_UNREACHABLE')
  }
}
