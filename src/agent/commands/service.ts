/**
 * `ct-agent service print`: a unit by which a service manager runs `ct-agent serve`.
 *
 * Holds: nothing that is secret goes into it, nor does the agent print its ticket where a manager would log it.
 *
 * @module
 */
import { userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { type Env, type EnvRow, quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type Command, type Context } from '../command.ts'
import { parseCommandLine } from '../command-line.ts'
import { ALL_ENV_ROWS } from '../env-tables.ts'
import { programAgain } from '../hosting/host-config.ts'
import { isThere } from '../input.ts'
import { notice, printLine } from '../io.ts'
import { LAUNCHD_LABEL, launchdPlist } from '../service/launchd.ts'
import { type ServiceFacts } from '../service/service-facts.ts'
import { systemdUnit } from '../service/systemd.ts'
import { COMMON_ENV } from '../settings.ts'

/** Beyond the time that calls get: sessions are told, and handlers ended. */
const GOODBYE_SECONDS = 10
const TICKET_FILE = 'ticket'

export async function servicePrint(context: Context): Promise<number> {
  const { io, operands, switches } = context
  const [manager = '', ...flags] = operands
  const facts = factsOf(context, flags)
  const isOfUser = switches.has('user')
  if (manager === 'systemd') {
    await printLine(io, systemdUnit(facts, isOfUser ? 'user' : 'system'))
    notice(io, isOfUser ? WHERE.user : WHERE.system)
  } else if (manager === 'launchd') {
    await printLine(io, launchdPlist(facts))
    notice(io, WHERE.launchd)
  } else {
    throw new CtError('ERR_USAGE', `expected systemd or launchd, found ${quote(manager)}`)
  }
  if (!flags.some((flag) => /^--ticket-file(?:=|$)/.test(flag))) {
    notice(io, `ct-agent: the ticket will be in ${join(facts.stateDir, TICKET_FILE)}, not in a log`)
  }
  if (!isThere(facts.stateDir))
    notice(io, `ct-agent: make the state folder first: mkdir -p -m 700 ${quote(facts.stateDir)}`)
  tellLeftOut(context)
  return 0
}

const WHERE = {
  system:
    'ct-agent: as root: write it to /etc/systemd/system/ct-agent.service, then systemctl daemon-reload and systemctl enable --now ct-agent',
  user: 'ct-agent: write it to ~/.config/systemd/user/ct-agent.service, then systemctl --user daemon-reload and systemctl --user enable --now ct-agent; loginctl enable-linger keeps it running after you sign out',
  launchd: `ct-agent: write it to ~/Library/LaunchAgents/${LAUNCHD_LABEL}.plist, then launchctl bootstrap gui/$(id -u) ~/Library/LaunchAgents/${LAUNCHD_LABEL}.plist`,
} as const

function factsOf({ io, env, stateDir, drainSeconds, commands = [] }: Context, flags: readonly string[]): ServiceFacts {
  const serve = commands.find(({ words }) => words.length === 1 && words[0] === 'serve')
  const given = serve === undefined ? {} : overlayOf(serve, flags)
  const [program, ...first] = programAgain(io.execPath, resolve(io.argv[1] ?? ''))
  if (program === 'npx') {
    throw new CtError(
      'ERR_USAGE',
      'expected ct-agent to be installed, found one that npx keeps for a while; run npm install -g ct-agent',
    )
  }
  const state = resolve(given[COMMON_ENV.stateDir.name] ?? stateDir)
  const ownTicket = flags.some((flag) => /^--ticket-file(?:=|$)/.test(flag))
  const ticket = ownTicket ? [] : ['--ticket-file', join(state, TICKET_FILE)]
  const drain = Number(given[COMMON_ENV.drainSeconds.name] ?? drainSeconds)
  return {
    command: [program, ...first, 'serve', ...ticket, ...flags],
    stateDir: state,
    folder: process.cwd(),
    env: plainSettings(env, state),
    stopSeconds: drain + GOODBYE_SECONDS,
    user: userInfo().username,
  }
}

/** @throws {CtError} `ERR_USAGE` for flags that `serve` would refuse */
function overlayOf(serve: Command, flags: readonly string[]): Env {
  return parseCommandLine(serve, ['serve', ...flags]).overlay
}

/** Where the agent finds its state, and its other settings. */
function plainSettings(env: Env, stateDir: string): Readonly<Record<string, string>> {
  const file = env[COMMON_ENV.configFile.name]
  return {
    ...(env['PATH'] === undefined ? {} : { PATH: env['PATH'] }),
    [COMMON_ENV.stateDir.name]: stateDir,
    ...(file === undefined || file.trim() === '' ? {} : { [COMMON_ENV.configFile.name]: resolve(file) }),
  }
}

/** A service has not the environment of whoever made it. */
function tellLeftOut({ io, env }: Context): void {
  if ((env[COMMON_ENV.configFile.name] ?? '').trim() !== '') return
  const kept: ReadonlySet<string> = new Set([COMMON_ENV.stateDir.name, COMMON_ENV.configFile.name])
  const isLeftOut = ({ name }: EnvRow<unknown>): boolean => !kept.has(name) && (env[name] ?? '').trim() !== ''
  const names = ALL_ENV_ROWS.filter(isLeftOut).map(({ name }) => name)
  if (names.length === 0) return
  notice(
    io,
    `ct-agent: not in it: ${names.join(', ')}; put them into a file of mode 600 and name that in CT_CONFIG_FILE`,
  )
}
