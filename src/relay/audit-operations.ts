/**
 * Reading what was done in one's accounts.
 *
 * @module
 */
import { z } from 'zod'
import { id, isoTime, time, whole } from './fields.ts'
import { cursorAt, readCursor } from './network/cursor.ts'
import { type Operation, operation } from './operation.ts'

const MAX_LISTED = 200
const DEFAULT_LISTED = 50
const MAX_WORD_CHARS = 60

const eventShape = z.object({
  id,
  action: z.string(),
  resource_type: z.string(),
  resource_id: z.string(),
  target_id: z.string().nullable(),
  actor_user_id: z.string().nullable(),
  credential_kind: z.string().nullable(),
  credential_id: z.string().nullable(),
  summary: z.string(),
  created_at: time,
})

const listAudit = operation({
  name: 'list_audit',
  about: 'What was done in your accounts, newest first',
  rest: { method: 'get', path: '/v1/audit' },
  input: z.object({
    resource_type: z.string().max(MAX_WORD_CHARS).optional(),
    action: z.string().max(MAX_WORD_CHARS).optional(),
    limit: whole(1, MAX_LISTED).default(DEFAULT_LISTED),
    cursor: z.string().optional(),
  }),
  output: z.object({ events: z.array(eventShape), next_cursor: z.string().optional() }),
  run: async ({ database: { sql } }, caller, { resource_type: type, action, limit, cursor }) => {
    let query = sql
      .selectFrom('audit_events')
      .selectAll()
      .where('account_id', 'in', ['', ...caller.roles.keys()])
      .orderBy('id', 'desc')
      .limit(limit + 1)
    if (type !== undefined) query = query.where('resource_type', '=', type)
    if (action !== undefined) query = query.where('action', '=', action)
    if (cursor !== undefined) query = query.where('id', '<', readCursor(cursor).id)
    const rows = await query.execute()
    const last = rows.length > limit ? rows[limit - 1] : undefined
    return {
      events: rows.slice(0, limit).map((row) => ({
        id: row.id,
        action: row.action,
        resource_type: row.resource_type,
        resource_id: row.resource_id,
        target_id: row.target_id,
        actor_user_id: row.actor_user_id,
        credential_kind: row.credential_kind,
        credential_id: row.credential_id,
        summary: row.summary,
        created_at: isoTime(row.created_at),
      })),
      ...(last === undefined ? {} : { next_cursor: cursorAt({ createdAt: last.created_at, id: last.id }) }),
    }
  },
})

export const AUDIT_OPERATIONS: readonly Operation[] = [listAudit]
