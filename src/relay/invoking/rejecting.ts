/**
 * What waits in inboxes when what let it there is taken away. Work that somebody has begun goes on.
 *
 * @module
 */
import { type InvocationRow } from '../storage/invocation-rows.ts'
import { type Inside } from '../storage/open.ts'
import { invocationTopic } from './waiting.ts'

/** By what it came, whose it is, or who asked for it. */
export type QueuedBy = Partial<
  Pick<InvocationRow, 'grant_id' | 'granter_agent_id' | 'grantee_agent_id' | 'capability_id'>
>

export interface Rejection {
  readonly code: string
  readonly message: string
  readonly now: number
}

export async function rejectQueued(
  { sql, wake }: Inside,
  queued: QueuedBy,
  { code, message, now }: Rejection,
): Promise<void> {
  let query = sql
    .updateTable('invocations')
    .set({ status: 'rejected', error_code: code, error_message: message, completed_at: now })
    .where('status', 'in', ['pending', 'awaiting_consent'])
  for (const [column, value] of Object.entries(queued)) query = query.where(column as keyof QueuedBy, '=', value)
  for (const { id } of await query.returning('id').execute()) wake(invocationTopic(id))
}
