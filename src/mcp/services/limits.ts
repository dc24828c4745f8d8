/**
 * Limits that the system keeps for a handler: memory, processor time, open files, no network.
 *
 * Holds: they are set by a shell that then becomes the command, so no limit binds whoever watches and ends it, and a
 * command whose limits cannot be set does not run. Each holds for every process of the handler by itself.
 *
 * @module
 */

export interface HandlerLimits {
  readonly memoryBytes: number | undefined
  readonly cpuSeconds: number | undefined
  readonly openFiles: number | undefined
  readonly noNetwork: boolean
}

export type LimitName = keyof HandlerLimits

const KIB = 1_024

/**
 * Ways to leave the network: as root, else with a user namespace, in which the user stays itself or seems to be root.
 * The first that the system lets us go is taken.
 */
export const NETWORK_LEAVERS = ['unshare -n', 'unshare -U -c -n', 'unshare -r -n'] as const

export type NetworkLeaver = (typeof NETWORK_LEAVERS)[number]

/** Names of the limits that are asked for. */
export function askedLimits(limits: HandlerLimits): readonly LimitName[] {
  const { memoryBytes, cpuSeconds, openFiles, noNetwork } = limits
  const asked: readonly (readonly [LimitName, boolean])[] = [
    ['memoryBytes', memoryBytes !== undefined],
    ['cpuSeconds', cpuSeconds !== undefined],
    ['openFiles', openFiles !== undefined],
    ['noNetwork', noNetwork],
  ]
  return asked.filter(([, isAsked]) => isAsked).map(([name]) => name)
}

/** The command under its limits; the very command when there are none. */
export function confine(command: string, limits: HandlerLimits, leaver: NetworkLeaver | undefined): string {
  const { memoryBytes, cpuSeconds, openFiles } = limits
  const settings = [
    // Memory that is written to, and not what is merely reserved, of which Node.js alone takes gigabytes.
    memoryBytes === undefined ? undefined : `ulimit -d ${Math.max(1, Math.floor(memoryBytes / KIB))}`,
    cpuSeconds === undefined ? undefined : `ulimit -t ${cpuSeconds}`,
    openFiles === undefined ? undefined : `ulimit -n ${openFiles}`,
  ].filter((setting) => setting !== undefined)
  if (settings.length === 0 && leaver === undefined) return command
  const leave = leaver === undefined ? '' : `${leaver} -- `
  return [...settings, `exec ${leave}/bin/sh -c '${command.replaceAll("'", "'\\''")}'`].join(' && ')
}
