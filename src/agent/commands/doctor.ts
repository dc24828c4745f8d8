/**
 * `ct-agent doctor`: what keeps this agent from working, and what to do about it.
 *
 * @module
 */
import { type Context } from '../command.ts'
import { planChecks } from '../doctor/doctor.ts'
import { isWell, reportJson, reportText } from '../doctor/report.ts'
import { runChecks } from '../doctor/run-checks.ts'
import { printLine } from '../io.ts'
import { withProgress } from '../progress.ts'

const EXIT_SOMETHING_WRONG = 1

export async function doctor(context: Context): Promise<number> {
  const { io, clock, switches } = context
  const checks = await planChecks(context)
  const pending = new Set(checks.map(({ name }) => name))
  const running = runChecks(checks, { clock, onDone: (name) => pending.delete(name) })
  const checked = await withProgress(io, clock, () => `checking ${[...pending].join(', ')}`, running)
  await printLine(io, switches.has('json') ? reportJson(checked) : reportText(checked, io.stdout.isTTY === true))
  return isWell(checked) ? 0 : EXIT_SOMETHING_WRONG
}
