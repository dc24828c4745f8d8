/**
 * One entry in the audit log, by a command that does not stay.
 *
 * @module
 */
import { type EnvProblem, readEnv, refuseProblems } from '../../../core/env.ts'
import { shortId } from '../../../core/ids.ts'
import { generateInstanceId } from '../../../core/keys.ts'
import { type Context } from '../../command.ts'
import { AuditFile } from './audit-file.ts'
import { type AuditFacts } from './audit-line.ts'
import { AuditLog } from './audit-log.ts'
import { AUDIT_ENV, auditPath } from './audit-settings.ts'

/** What was done is done: an entry that cannot be written is for the log. */
const LAST_LINE_MS = 2_000

/** @throws {CtError} `ERR_CONFIG_INVALID` */
export async function noteInAudit(context: Context, event: string, facts: AuditFacts): Promise<void> {
  const { env, stateDir, clock, log } = context
  const problems: EnvProblem[] = []
  const { auditLog } = readEnv(AUDIT_ENV, env, problems)
  refuseProblems(problems)
  const path = auditPath(auditLog, stateDir)
  if (path === undefined) return
  const audit = new AuditLog(new AuditFile(path, shortId(generateInstanceId()), clock), clock, log)
  audit.record(event, facts)
  await audit.close(LAST_LINE_MS)
}
