/**
 * Whether the command of the services could be run. It is not run: what it does is not known here.
 *
 * @module
 */
import { spawn } from 'node:child_process'
import { type Env, quote } from '../../core/env.ts'
import { withoutAgentVariables } from '../../mcp/services/index.ts'
import { isThere } from '../input.ts'
import { type Finding, found } from './catalogue.ts'

export async function checkHandler(
  command: string | undefined,
  { env, hasServices }: { readonly env: Env; readonly hasServices: boolean },
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  if (command === undefined || command.trim() === '') return [found('handler.skipped', 'no handler is set')]
  if (process.platform === 'win32') return [found('handler.skipped', 'not checked on Windows')]
  const unused = hasServices ? [] : [found('handler.unused', 'a handler is set, and no service for it')]
  return [await checkCommand(command, env, signal), ...unused]
}

async function checkCommand(command: string, env: Env, signal: AbortSignal): Promise<Finding> {
  const clean = withoutAgentVariables(env)
  if (!(await succeeds(['-n', '-c', command], clean, signal))) {
    return found('handler.syntax', `sh cannot read ${quote(command)}`)
  }
  const program = programOf(command)
  if (program === undefined)
    return found('handler.ok', 'sh can read it; which program it runs is not clear from outside')
  if (await succeeds(['-c', IS_RUNNABLE, 'sh', program], clean, signal)) {
    return found('handler.ok', `${quote(program)} is there`)
  }
  return program.includes('/') && isThere(program)
    ? found('handler.not_executable', `this user may not run ${quote(program)}`)
    : found('handler.missing', `there is no program ${quote(program)}`)
}

/** Some shells find a path that may not be run. */
const IS_RUNNABLE = 'case "$1" in */*) [ -f "$1" ] && [ -x "$1" ];; *) command -v -- "$1" >/dev/null;; esac'

/** The first word, where it is one without anything that the shell would replace. */
export function programOf(command: string): string | undefined {
  const [, quoted, plain] =
    /^\s*(?:[A-Za-z_]\w*=[\w./:@%+,-]*\s+)*(?:exec\s+)?(?:'([^']+)'|([\w./:@%+,-]+)(?=\s|;|\||&|$))/.exec(command) ?? []
  return quoted ?? plain
}

function succeeds(args: readonly string[], env: Env, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn('sh', args, { env, stdio: 'ignore', signal })
    child.once('error', () => resolve(false))
    child.once('exit', (status) => resolve(status === 0))
  })
}
