/**
 * Running what somebody else had a hand in for a bounded time.
 *
 * @module
 */
import { createContext, Script } from 'node:vm'

const RUN = new Script('run()')
/** A place for the work of the moment; making one for each would cost more than most work does. */
const PLACE: { run: () => void } = { run: () => {} }
let context: object | undefined

/** What took longer than it may. */
export class TookTooLong extends Error {
  constructor(ms: number) {
    super(`expected an end within ${ms} ms`)
  }

  override get name(): string {
    return 'TookTooLong'
  }
}

/**
 * The outcome of `work`, which runs at once and without giving way; regular expressions are stopped in the midst too.
 * What was stopped may have done half of its work.
 *
 * @throws {TookTooLong}
 */
export function runBounded<Result>(ms: number, work: () => Result): Result {
  let outcome: { readonly value: Result } | { readonly error: unknown } | undefined
  const run = (): void => {
    try {
      outcome = { value: work() }
    } catch (error) {
      outcome = { error }
    }
  }
  context ??= createContext(PLACE)
  PLACE.run = run
  try {
    RUN.runInContext(context, { timeout: ms })
  } catch {
    throw new TookTooLong(ms)
  }
  if (outcome === undefined) throw new TookTooLong(ms)
  if ('error' in outcome) throw outcome.error
  return outcome.value
}
