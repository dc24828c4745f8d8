/**
 * A unit for systemd. Pure.
 *
 * Holds: whatever is in a path or an argument, the unit says the same words; calls in progress finish before the handlers
 * are ended; a bad setting is not tried again and again.
 *
 * @module
 */
import { type ServiceFacts } from './service-facts.ts'

/** Status of a wrong flag, variable or file: no restart mends it. */
const BAD_SETTINGS = 2

/** @param scope of the machine, run as the user from its start; or of the user, run while that is signed in */
export function systemdUnit(facts: ServiceFacts, scope: 'system' | 'user'): string {
  const { command, stateDir, folder, env, stopSeconds, user } = facts
  return [
    '[Unit]',
    'Description=ct-agent: an agent that others call over encrypted channels',
    // Managers of a user know no network.
    ...(scope === 'system' ? ['Wants=network-online.target', 'After=network-online.target'] : []),
    'StartLimitIntervalSec=0',
    '',
    '[Service]',
    ...(scope === 'system' ? [`User=${specifierFree(user)}`] : []),
    `ExecStart=${command.map(argument).join(' ')}`,
    `WorkingDirectory=${specifierFree(folder)}`,
    ...Object.entries(env).map(([name, value]) => `Environment=${quoted(`${name}=${value}`)}`),
    'Restart=on-failure',
    // Older managers know the first of these alone, and say so.
    'RestartSec=5s',
    'RestartSteps=5',
    'RestartMaxDelaySec=120s',
    `RestartPreventExitStatus=${BAD_SETTINGS}`,
    'KillMode=mixed',
    `TimeoutStopSec=${stopSeconds}s`,
    '',
    ...(scope === 'system' ? [...EVERYWHERE, ...forMachine(stateDir)] : EVERYWHERE),
    '',
    '[Install]',
    `WantedBy=${scope === 'system' ? 'multi-user.target' : 'default.target'}`,
  ].join('\n')
}

/** What a manager of one user can keep too. */
const EVERYWHERE: readonly string[] = [
  'UMask=0077',
  'NoNewPrivileges=yes',
  'LockPersonality=yes',
  'RestrictRealtime=yes',
  'RestrictSUIDSGID=yes',
  'RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK',
  'SystemCallArchitectures=native',
]

function forMachine(stateDir: string): readonly string[] {
  return [
    '# Handlers run under the same limits: name here what else they have to write.',
    `ReadWritePaths=${quoted(stateDir)}`,
    'ProtectSystem=strict',
    'ProtectHome=read-only',
    // A folder for temporary files of its own would hide one that is there.
    ...(/^\/(?:var\/)?tmp\//.test(stateDir) ? [] : ['PrivateTmp=yes']),
    'PrivateDevices=yes',
    'ProtectClock=yes',
    'ProtectControlGroups=yes',
    'ProtectHostname=yes',
    'ProtectKernelLogs=yes',
    'ProtectKernelModules=yes',
    'ProtectKernelTunables=yes',
    'CapabilityBoundingSet=',
  ]
}

/** Of a command line, where variables are put in too. */
function argument(text: string): string {
  return quoted(text.replaceAll('$', '$$$$'))
}

function quoted(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replaceAll('\r', '\\r')
  return `"${specifierFree(escaped)}"`
}

function specifierFree(text: string): string {
  return text.replaceAll('%', '%%')
}
