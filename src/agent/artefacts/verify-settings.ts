/**
 * What is asked of signatures and clocks before a signed artefact counts as valid.
 *
 * @module
 */
import { type OpenOptions } from '../../core/artefact.ts'
import { type Env, type EnvProblem, type EnvRow, parseInteger, parseSwitch, readEnv } from '../../core/env.ts'
import { type Clock } from '../../core/time.ts'
import { unixSeconds } from '../../core/u64.ts'

export const VERIFY_ENV = {
  acceptLegacy: {
    name: 'CT_ACCEPT_LEGACY_SIGNATURES',
    about: 'Accept agent cards that were signed in the old form, whose domain has no length',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
    flag: 'accept-legacy',
  },
  skewSeconds: {
    name: 'CT_CLOCK_SKEW_SECS',
    about: 'Seconds by which an artefact may have been issued in the future: clocks differ',
    expects: 'whole seconds',
    parse: parseInteger(0, 86_400),
    fallback: '60',
    flag: 'clock-skew',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

export type Checks = Required<Pick<OpenOptions, 'acceptLegacy' | 'skewSeconds'>>

export function readChecks(env: Env, problems: EnvProblem[]): Checks {
  return readEnv(VERIFY_ENV, env, problems)
}

/** The checks as of now. */
export function checksNow(checks: Checks, clock: Pick<Clock, 'now'>): Checks & Pick<OpenOptions, 'now'> {
  return { ...checks, now: unixSeconds(clock) }
}
