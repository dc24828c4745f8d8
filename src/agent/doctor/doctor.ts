/**
 * All the checks, put together.
 *
 * Holds: nothing is changed, redeemed, renewed or bought; nobody is asked but the broker and the peer that were named.
 *
 * @module
 */
import { lookup } from 'node:dns/promises'
import { networkInterfaces } from 'node:os'
import { CtError } from '../../core/errors.ts'
import { type HolderId, KEY_BYTES, parseHexBytes } from '../../core/ids.ts'
import { holderKey, SecretKey } from '../../core/keys.ts'
import { readSecretFile } from '../../core/secret-file.ts'
import { unixSeconds } from '../../core/u64.ts'
import { UPSTREAM_ENV } from '../../mcp/upstream/config.ts'
import { type Context } from '../command.ts'
import { type SecretName } from '../state.ts'
import { checkBroker } from './broker-check.ts'
import { checkClock } from './clock-check.ts'
import { checkNames } from './dns-check.ts'
import { checkHandler } from './handler-check.ts'
import { checkHandlerUrl } from './handler-url-check.ts'
import { checkIpv6, checkNetwork, checkNode, checkSettings } from './machine-checks.ts'
import { checkPeer } from './peer-check.ts'
import { checkPorts } from './port-check.ts'
import { type Check } from './run-checks.ts'
import { checkServer } from './server-check.ts'
import { checkState, newestChange } from './state-check.ts'
import { addressesOf, readSubject, type Subject } from './subject.ts'
import { checkTicket } from './ticket-check.ts'

/** In the order in which they are told: what others rest on comes first. */
export async function planChecks(context: Context): Promise<readonly Check[]> {
  const { env, stateDir, clock, random, log, settingsTrouble } = context
  const subject = await readSubject(context)
  const { problems, listen, broker, relay, handler, handlerCommand, named } = subject
  const holder = ownHolder(subject, stateDir)
  const operator = keptSecret(stateDir, 'operator.key')
  const ticket = checkTicket(named, { now: unixSeconds(clock), holder })
  const wanted = named === undefined || named instanceof CtError ? [] : addressesOf(named)
  const interfaces = networkInterfaces()
  const written = newestChange([stateDir, `${stateDir}/holder.key`, `${stateDir}/members.db`])
  const probe = { subject, isGood: ticket.status !== 'fail', hasKeys: holder !== undefined }
  return [
    { name: 'node', run: () => [checkNode(process.version)] },
    { name: 'settings', run: () => checkSettings(env, problems, settingsTrouble) },
    { name: 'state', run: () => checkState(stateDir) },
    {
      name: 'clock',
      run: async (signal) => [await checkClock(clock, { places: broker, newestChange: written }, signal)],
    },
    { name: 'network', run: () => [checkNetwork(interfaces)] },
    { name: 'ipv6', run: () => [checkIpv6(interfaces, wanted)] },
    { name: 'port', run: () => checkPorts(listen, stateDir) },
    { name: 'dns', run: () => checkNames([...broker, ...wanted, ...listen], (name) => lookup(name)) },
    { name: 'broker', run: (signal) => checkBroker({ places: broker, relay, operator, clock, random, log }, signal) },
    { name: 'ticket', run: () => [ticket] },
    { name: 'peer', run: async (signal) => [await checkPeer(context, probe, signal)] },
    {
      name: 'handler',
      run: (signal) => {
        const hasServices = (handler?.services.length ?? 1) > 0
        return handler?.way.mode === 'http'
          ? checkHandlerUrl(handler.way.url, { hasServices }, signal)
          : checkHandler(handlerCommand, { env, hasServices }, signal)
      },
    },
    { name: 'server', run: async (signal) => [await checkServer(env[UPSTREAM_ENV.command.name], env, signal)] },
  ]
}

function ownHolder({ settings: { values } }: Subject, stateDir: string): HolderId | undefined {
  const secret = values.holderKey ?? keptSecret(stateDir, 'holder.key')
  return secret === undefined ? undefined : holderKey(secret).id
}

/** Undefined while there is none, or none that can be read: that is found by another check. */
function keptSecret(stateDir: string, name: SecretName): SecretKey | undefined {
  try {
    const bytes = parseHexBytes(readSecretFile(`${stateDir}/${name}`) ?? '', KEY_BYTES)
    return 'problem' in bytes ? undefined : new SecretKey(bytes.value)
  } catch {
    return undefined
  }
}
