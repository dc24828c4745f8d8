/**
 * Variables that a command cannot do without.
 *
 * Holds: all that are missing or malformed are reported at once, in the order of the table.
 *
 * @module
 */
import {
  type Env,
  type EnvProblem,
  type EnvRow,
  type EnvTable,
  missing,
  readEnv,
  refuseProblems,
} from '../../core/env.ts'

/** What to say of a variable that is absent (`undefined`) or malformed, instead of the usual words. */
export type Wording = (row: EnvRow<unknown>, given: string | undefined) => string

type Required<Table extends EnvTable> = {
  readonly [Key in keyof Table]: Table[Key] extends EnvRow<infer Value> ? Value : never
}

/**
 * Reads every row of a table; those without a fallback must be given.
 *
 * @throws {CtError} `ERR_CONFIG_INVALID` with every problem
 */
export function readRequired<const Table extends EnvTable>(
  table: Table,
  env: Env,
  wordings: { readonly [Key in keyof Table]?: Wording } = {},
): Required<Table> {
  const values: Record<string, unknown> = {}
  const problems: EnvProblem[] = []
  for (const [key, row] of Object.entries(table)) {
    const found: EnvProblem[] = []
    const { value } = readEnv({ value: row }, env, found)
    values[key] = value
    if (value !== undefined) continue
    const { name, message } = found[0] ?? missing(row)
    const wording = wordings[key]
    problems.push({ name, message: wording === undefined ? message : wording(row, env[name]) })
  }
  refuseProblems(problems)
  return values as Required<Table>
}
