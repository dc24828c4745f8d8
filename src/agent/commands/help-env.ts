/**
 * `ct-agent help env`.
 *
 * @module
 */
import { type Context } from '../command.ts'
import { ALL_ENV_ROWS } from '../env-tables.ts'
import { helpEnv } from '../help.ts'
import { printLine } from '../io.ts'

export async function printEnv({ io, switches }: Context): Promise<number> {
  const rows = ALL_ENV_ROWS.map(({ name, about, expects, fallback, flag, secret }) => ({
    name,
    about,
    expects,
    default: fallback ?? null,
    flag: flag === undefined ? null : `--${flag}`,
    secret: secret === true,
  }))
  await printLine(io, switches.has('json') ? JSON.stringify(rows) : helpEnv(ALL_ENV_ROWS))
  return 0
}
