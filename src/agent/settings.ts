/**
 * Settings that every command shares.
 *
 * @module
 */
import { type Env, type EnvRow, parseChoice, parseInteger, parseText } from '../core/env.ts'

export const COMMON_ENV = {
  stateDir: {
    name: 'CT_AGENT_STATE_DIR',
    about: 'Folder for keys and other state, readable by its owner alone',
    expects: 'a path',
    parse: parseText,
    flag: 'state-dir',
  },
  configFile: {
    name: 'CT_CONFIG_FILE',
    about: 'File of NAME=value lines with settings that neither a flag nor the environment gives',
    expects: 'a path',
    parse: parseText,
    flag: 'config',
  },
  logLevel: {
    name: 'CT_LOG_LEVEL',
    about: 'Least severe event that is logged to stderr as a JSON line',
    expects: 'error|warn|info|debug|silent',
    parse: parseChoice({
      error: 'error',
      warn: 'warn',
      info: 'info',
      debug: 'debug',
      silent: 'silent',
    }),
    fallback: 'warn',
    flag: 'log-level',
  },
  drainSeconds: {
    name: 'CT_DRAIN_SECS',
    about: 'Seconds that calls in progress get to finish after SIGTERM or SIGINT',
    expects: 'whole seconds',
    parse: parseInteger(0, 3_600),
    fallback: '10',
    flag: 'drain',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

/** Where state lives when nothing says otherwise: the platform's place for it. */
export function defaultStateDir(env: Env, platform: NodeJS.Platform, home: string): string {
  if (platform === 'win32') return `${env['LOCALAPPDATA'] ?? `${home}\\AppData\\Local`}\\ct-agent`
  if (platform === 'darwin') return `${home}/Library/Application Support/ct-agent`
  const base = env['XDG_STATE_HOME']
  return base?.startsWith('/') === true ? `${base}/ct-agent` : `${home}/.local/state/ct-agent`
}
