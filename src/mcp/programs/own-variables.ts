/**
 * What a program may see of the agent's environment.
 *
 * Holds: no `CT_*` variable of the agent reaches a program that it runs, so its keys, grants and tokens cannot, whether
 * or not this version knows their names. Everything else passes: programs need `PATH`, `HOME` and their own credentials.
 *
 * @module
 */
import { type Env } from '../../core/env.ts'

const OWN_PREFIX = 'CT_'

/** The agent's environment without what is the agent's own. */
export function withoutAgentVariables(env: Env): Env {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.toUpperCase().startsWith(OWN_PREFIX)))
}
