/**
 * Node, the settings, and the network of this machine. Pure.
 *
 * @module
 */
import { isIPv4, isIPv6 } from 'node:net'
import { type NetworkInterfaceInfo } from 'node:os'
import { type Address } from '../../channel/index.ts'
import { type Env, type EnvProblem, quote } from '../../core/env.ts'
import { type CtError } from '../../core/errors.ts'
import { didYouMean } from '../../core/nearest.ts'
import { ALL_ENV_ROWS, isKnownVariable } from '../env-tables.ts'
import { type Finding, found } from './catalogue.ts'

const OLDEST_NODE = [22, 18] as const

export function checkNode(version: string): Finding {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  const isNew = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])
  return isNew
    ? found('node.ok', `Node.js ${version}`)
    : found('node.too_old', `expected Node.js ${OLDEST_NODE.join('.')} or newer, found ${version}`)
}

/** @param trouble why the settings could not be read as a whole */
export function checkSettings(
  env: Env,
  problems: readonly EnvProblem[],
  trouble: CtError | undefined,
): readonly Finding[] {
  const findings = [
    ...(trouble === undefined ? [] : [found('settings.file', trouble.message, trouble.code)]),
    ...problems.map(({ message }) => found('settings.invalid', message, 'ERR_CONFIG_INVALID')),
    ...unknownNames(env).map((name) =>
      found('settings.unknown', `nobody reads ${quote(name)}${didYouMean(name, KNOWN)}`),
    ),
  ]
  return findings.length > 0 ? findings : [found('settings.ok', `${countOf(env)} given, all of them good`)]
}

const KNOWN: ReadonlySet<string> = new Set(ALL_ENV_ROWS.map(({ name }) => name))

function unknownNames(env: Env): readonly string[] {
  return Object.keys(env).filter((name) => name.startsWith('CT_') && !isKnownVariable(name))
}

function countOf(env: Env): number {
  return Object.keys(env).filter((name) => KNOWN.has(name)).length
}

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>

export function checkNetwork(interfaces: Interfaces): Finding {
  const outside = reachableHosts(interfaces)
  return outside.length === 0
    ? found('network.none', 'this machine has no address but its own loopback')
    : found('network.ok', `${outside.length} ${outside.length === 1 ? 'address' : 'addresses'}`)
}

/** @param wanted where the peer and the broker are */
export function checkIpv6(interfaces: Interfaces, wanted: readonly Address[]): Finding {
  const own = reachableHosts(interfaces)
  const [has6, has4] = [own.some(isIPv6), own.some(isIPv4)]
  const hosts = wanted.map(({ host }) => host).filter((host) => !LOOPBACK.test(host))
  const names = hosts.filter((host) => !isIPv4(host) && !isIPv6(host))
  const only = (is: (host: string) => boolean): boolean => hosts.length > 0 && names.length === 0 && hosts.every(is)
  if (!has6 && only(isIPv6)) {
    return found(
      'ipv6.needed',
      `the other side has IPv6 addresses alone, such as ${hosts[0]}, and this machine has none`,
    )
  }
  if (has6 && !has4 && only(isIPv4)) {
    return found('ipv6.only', `the other side has IPv4 addresses alone, such as ${hosts[0]}, and this machine has none`)
  }
  return has6
    ? found('ipv6.ok', 'this machine has it')
    : found('ipv6.none', 'this machine has none, and nothing needs it')
}

const LOOPBACK = /^(?:127\.|::1$)/

/** Addresses by which others may get here; those of one link alone are of no use. */
function reachableHosts(interfaces: Interfaces): readonly string[] {
  return Object.values(interfaces)
    .flatMap((entries) => entries ?? [])
    .filter(({ internal, address }) => !internal && !/^(?:fe[89ab]|169\.254\.)/i.test(address))
    .map(({ address }) => address)
}
