/**
 * Where the audit log is.
 *
 * @module
 */
import { type EnvRow } from '../../../core/env.ts'
import { type Parsed } from '../../../core/ids.ts'

/** A path, or `undefined` for no log at all. */
export type AuditPlace = { readonly path: string } | 'off'

export const AUDIT_ENV = {
  auditLog: {
    name: 'CT_AUDIT_LOG',
    about: 'File that admissions, refusals and calls are added to; audit.log in the state folder unless set',
    expects: 'a path or off',
    parse: parseAuditPlace,
    flag: 'audit-log',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

function parseAuditPlace(text: string): Parsed<AuditPlace> {
  return { value: text.trim().toLowerCase() === 'off' ? 'off' : { path: text } }
}

/** The file; none when there is to be none. */
export function auditPath(place: AuditPlace | undefined, stateDir: string): string | undefined {
  if (place === 'off') return undefined
  return place?.path ?? `${stateDir}/audit.log`
}
