/**
 * What the callers were told, held against what the server did. Pure.
 *
 * @module
 */
/** How one call ended. */
export interface Outcome {
  readonly key: string
  /** Code of the error; empty for a result. */
  readonly code: string
  /** From the call to its end. */
  readonly ms: number
  /** The result is the one of this call. */
  readonly isOwn: boolean
}

export interface Verdict {
  readonly calls: number
  readonly results: number
  /** How many ended in each code. */
  readonly errors: Readonly<Record<string, number>>
  readonly executed: number
  readonly slowestMs: number
  /** Keys of the calls of which something is wrong; all empty is what is wanted. */
  readonly wrong: {
    /** Done more than once. */
    readonly executedTwice: readonly string[]
    /** Said to be done and not done. */
    readonly acknowledgedNotExecuted: readonly string[]
    /** Done, and its caller told for certain that it was not. */
    readonly deniedButExecuted: readonly string[]
    /** Ended more than once. */
    readonly endedTwice: readonly string[]
    /** Made and never ended. */
    readonly neverEnded: readonly string[]
    /** Ended in the result of another call. */
    readonly foreignResult: readonly string[]
    readonly late: readonly string[]
    /** Done, and asked for by nobody. */
    readonly unasked: readonly string[]
  }
}

/** Codes that leave open whether the call was done. */
const MAY_HAVE_RUN = new Set(['ERR_CALL_OUTCOME_UNKNOWN', 'ERR_CALL_TIMEOUT', 'ERR_CALL_CANCELLED'])

export interface Evidence {
  /** Keys of all calls that were made. */
  readonly made: readonly string[]
  readonly outcomes: readonly Outcome[]
  /** Keys in the order in which the server did what was asked, one for each time. */
  readonly done: readonly string[]
  readonly latestMs: number
}

export function judge({ made, outcomes, done, latestMs }: Evidence): Verdict {
  const doneKeys = new Set(done)
  const ended = new Set(outcomes.map(({ key }) => key))
  const asked = new Set(made)
  const results = outcomes.filter(({ code }) => code === '')
  const errors = new Map<string, number>()
  for (const { code } of outcomes) if (code !== '') errors.set(code, (errors.get(code) ?? 0) + 1)
  const isDenied = ({ code }: Outcome): boolean => code !== '' && !MAY_HAVE_RUN.has(code)
  return {
    calls: made.length,
    results: results.length,
    errors: Object.fromEntries([...errors].toSorted()),
    executed: done.length,
    slowestMs: outcomes.reduce((most, { ms }) => Math.max(most, ms), 0),
    wrong: {
      executedTwice: repeated(done),
      acknowledgedNotExecuted: keysOf(results.filter(({ key }) => !doneKeys.has(key))),
      deniedButExecuted: keysOf(outcomes.filter((outcome) => isDenied(outcome) && doneKeys.has(outcome.key))),
      endedTwice: repeated(keysOf(outcomes)),
      neverEnded: made.filter((key) => !ended.has(key)),
      foreignResult: keysOf(results.filter(({ isOwn }) => !isOwn)),
      late: keysOf(outcomes.filter(({ ms }) => ms > latestMs)),
      unasked: [...doneKeys].filter((key) => !asked.has(key)),
    },
  }
}

export const NOTHING_WRONG: Verdict['wrong'] = {
  executedTwice: [],
  acknowledgedNotExecuted: [],
  deniedButExecuted: [],
  endedTwice: [],
  neverEnded: [],
  foreignResult: [],
  late: [],
  unasked: [],
}

function keysOf(outcomes: readonly Outcome[]): readonly string[] {
  return outcomes.map(({ key }) => key)
}

function repeated(keys: readonly string[]): readonly string[] {
  const seen = new Set<string>()
  return keys.filter((key) => seen.size === seen.add(key).size)
}
