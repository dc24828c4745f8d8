/**
 * Runs the checks side by side.
 *
 * Holds: each comes to something within {@link CHECK_LIMIT_MS}, whatever it waits for; none can keep another from its
 * result.
 *
 * @module
 */
import { CtError, toCtError } from '../../core/errors.ts'
import { abortable, type Clock } from '../../core/time.ts'
import { type Finding, found } from './catalogue.ts'

/** One thing that is looked at; it may come to several findings. */
export interface Check {
  readonly name: string
  /** Stops, and tidies up, when the signal aborts. */
  readonly run: (signal: AbortSignal) => Promise<readonly Finding[]> | readonly Finding[]
}

/** A finding, and the check that came to it. */
export interface Checked extends Finding {
  readonly check: string
}

/** Whoever runs it waits for a diagnosis, not for a network. */
export const CHECK_LIMIT_MS = 10_000

/** @param onDone told the name of each check that is over */
export async function runChecks(
  checks: readonly Check[],
  { clock, onDone }: { readonly clock: Clock; readonly onDone: (name: string) => void },
): Promise<readonly Checked[]> {
  const results = await Promise.all(
    checks.map(async (check) => {
      const findings = await runOne(check, clock)
      onDone(check.name)
      return findings.map((finding) => ({ check: nameOf(check, finding), ...finding }))
    }),
  )
  return results.flat()
}

/** One look may tell of two things, such as the broker and its relay. */
function nameOf({ name }: Check, { code }: Finding): string {
  const [prefix = ''] = code.split('.')
  return prefix === 'doctor' ? name : prefix
}

async function runOne({ run }: Check, clock: Clock): Promise<readonly Finding[]> {
  const controller = new AbortController()
  const { signal } = controller
  const late = new CtError('ERR_TIMEOUT', `no result within ${CHECK_LIMIT_MS / 1_000} s`)
  const cancel = clock.after(CHECK_LIMIT_MS, () => controller.abort(late))
  try {
    return await abortable(
      Promise.resolve().then(() => run(signal)),
      signal,
    )
  } catch (error) {
    if (error === late) return [found('doctor.late', late.message, late.code)]
    const { code, message } = toCtError(error)
    return [found('doctor.crashed', message, code)]
  } finally {
    cancel()
    controller.abort(late)
  }
}
