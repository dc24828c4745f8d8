/**
 * Whether this system keeps the limits that are asked for, found out before anything is served.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'
import { type ProcessHost } from '../programs/process-group.ts'
import {
  askedLimits,
  confine,
  type HandlerLimits,
  type LimitName,
  NETWORK_LEAVERS,
  type NetworkLeaver,
} from './limits.ts'

export interface ProbeDeps {
  readonly clock: Clock
  readonly host: ProcessHost
  readonly platform: NodeJS.Platform
}

/** For a shell that sets a limit and ends. */
export const PROBE_MS = 5_000

const NONE: HandlerLimits = { memoryBytes: undefined, cpuSeconds: undefined, openFiles: undefined, noNetwork: false }

/**
 * Tries every limit that is asked for.
 *
 * @param nameOf the setting that asks for a limit
 * @returns how handlers leave the network, if they are to
 * @throws {CtError} `ERR_CONFIG_INVALID` when one cannot be kept
 */
export async function tryLimits(
  limits: HandlerLimits,
  nameOf: (limit: LimitName) => string,
  deps: ProbeDeps,
): Promise<NetworkLeaver | undefined> {
  const asked = askedLimits(limits)
  if (asked.length === 0) return undefined
  let leaver: NetworkLeaver | undefined
  for (const limit of asked) {
    if (limit === 'noNetwork') leaver = await findLeaver(deps)
    const isKept = limit === 'noNetwork' ? leaver !== undefined : await keeps({ ...NONE, [limit]: limits[limit] }, deps)
    if (!isKept) throw unkept(nameOf(limit), WHY[limit])
  }
  // Each by itself may do and all together not: few open files are too few to start a program.
  if (await succeeds(confine(':', limits, leaver), deps)) return leaver
  throw unkept(asked.map(nameOf).join(', '), 'with these limits together not even a shell runs')
}

const WHY: Readonly<Record<LimitName, string>> = {
  memoryBytes: 'the shell cannot set it here (ulimit -d), or the system does not count the memory of a program by it',
  cpuSeconds: 'the shell cannot set it here (ulimit -t)',
  openFiles: 'the shell cannot set it here (ulimit -n); a hard limit of the agent itself may be lower',
  noNetwork: 'it takes unshare of util-linux, and a Linux that lets this user make network namespaces',
}

function unkept(names: string, why: string): CtError {
  return new CtError(
    'ERR_CONFIG_INVALID',
    `${names} cannot be kept on this system: ${why}; nothing is served without a limit that was asked for`,
  )
}

function keeps(limits: HandlerLimits, deps: ProbeDeps): Promise<boolean> {
  // Elsewhere the setting is taken and then not heeded.
  if (limits.memoryBytes !== undefined && deps.platform !== 'linux') return Promise.resolve(false)
  return succeeds(confine(':', limits, undefined), deps)
}

async function findLeaver(deps: ProbeDeps): Promise<NetworkLeaver | undefined> {
  for (const leaver of NETWORK_LEAVERS) if (await succeeds(confine(':', NONE, leaver), deps)) return leaver
  return undefined
}

function succeeds(command: string, { clock, host }: ProbeDeps): Promise<boolean> {
  return new Promise((resolve) => {
    const child = host.spawn('/bin/sh', ['-c', command], { stdio: 'ignore' })
    const cancel = clock.after(PROBE_MS, () => child.kill('SIGKILL'))
    const finish = (isGood: boolean): void => {
      cancel()
      resolve(isGood)
    }
    child.once('error', () => finish(false))
    child.once('exit', (status) => finish(status === 0))
  })
}
