/**
 * `ct-agent audit verify` and `ct-agent audit show`.
 *
 * @module
 */
import { basename } from 'node:path'
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { printLine } from '../io.ts'
import { AUDIT_ENV, auditPath } from '../observing/audit/audit-settings.ts'
import { shownAudit } from '../observing/audit/audit-show.ts'
import { type AuditVerdict, verifyAudit } from '../observing/audit/audit-verify.ts'
import { printResult } from '../result.ts'

export async function auditVerify(context: Context): Promise<number> {
  const { io, switches } = context
  const verdict = await verifyAudit(pathOf(context))
  const { fault } = verdict
  if (switches.has('json')) await printLine(io, JSON.stringify(documentOf(verdict)))
  if (fault !== undefined) {
    const { file, line, problem } = fault
    throw new CtError('ERR_AUDIT_BROKEN', `${basename(file)}:${line}: ${problem}`, { detail: { ...fault } })
  }
  if (!switches.has('json')) for (const line of sentences(verdict)) await printLine(io, line)
  return 0
}

export async function auditShow(context: Context): Promise<number> {
  const { io, values } = context
  for await (const line of shownAudit(pathOf(context), values.get('peer'))) await printResult(io, line)
  return 0
}

/** @throws {CtError} `ERR_USAGE` */
function pathOf({ operands, env, stateDir }: Context): string {
  const [given] = operands
  if (given !== undefined) return given
  const problems: EnvProblem[] = []
  const { auditLog } = readEnv(AUDIT_ENV, env, problems)
  refuseProblems(problems)
  const path = auditPath(auditLog, stateDir)
  if (path === undefined)
    throw new CtError('ERR_USAGE', `expected the file of an audit log: ${AUDIT_ENV.auditLog.name} is off`)
  return path
}

function documentOf({ isTorn, fault, ...verdict }: AuditVerdict) {
  return { ok: fault === undefined, ...verdict, torn: isTorn, ...(fault === undefined ? {} : { fault }) }
}

function sentences({ files, entries, first, last, head, recovered, isTorn }: AuditVerdict): readonly string[] {
  const where = files === 1 ? 'one file' : `${files} files`
  return [
    entries === 0 ? 'no entries' : `${entries} entries, ${first} to ${last}, in ${where}: as they were written`,
    ...(recovered === 0 ? [] : [`${recovered} cut off by a crash or a full disk, and noted`]),
    ...(isTorn ? ['the last line is cut off; the next entry will note it'] : []),
    ...(entries === 0 ? [] : [`the last has the hash ${head}`]),
  ]
}
