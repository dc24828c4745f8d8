/**
 * Questions that nobody decided in time, and notices that nobody read.
 *
 * @module
 */
import { invocationTopic } from '../invoking/waiting.ts'
import { type RelayContext } from '../relay-context.ts'

const MAX_SWEPT = 500
const NOTICE_MS = 30 * 86_400_000

export async function sweepConsents(relay: RelayContext): Promise<void> {
  const now = relay.clock.now()
  await relay.database.transaction(async (sql, wake) => {
    const late = await sql
      .selectFrom('consent_requests')
      .select(['id', 'kind', 'invocation_id'])
      .where('status', '=', 'pending')
      .where('expires_at', '<=', now)
      .limit(MAX_SWEPT)
      .execute()
    for (const { id, kind, invocation_id: invocationId } of late) {
      await sql
        .updateTable('consent_requests')
        .set({ status: 'expired', decided_at: now, draft_output: null })
        .where('id', '=', id)
        .execute()
      await sql
        .updateTable('invocations')
        .set({
          status: kind === 'request' ? 'rejected' : 'failed',
          error_code: 'chk.policy.consent_expired',
          error_message: 'no approver decided in time',
          completed_at: now,
          lease_id: null,
          lease_until: null,
        })
        .where('id', '=', invocationId)
        .where('status', '=', kind === 'request' ? 'awaiting_consent' : 'in_progress')
        .execute()
      wake(invocationTopic(invocationId))
    }
  })
  await relay.database.sql
    .deleteFrom('notices')
    .where('created_at', '<=', now - NOTICE_MS)
    .execute()
}
