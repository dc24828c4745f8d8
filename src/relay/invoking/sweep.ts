/**
 * What ends without anybody doing anything. Several relays of one database may sweep at once.
 *
 * @module
 */
import { sweepConsents } from '../consenting/sweep-consents.ts'
import { type RelayContext } from '../relay-context.ts'
import { invocationTopic } from './waiting.ts'

const SWEEP_MS = 5_000
/** In one go. */
const MAX_SWEPT = 500
/** Until then a repetition of a request has the answer of the first. */
const IDEMPOTENCY_MS = 24 * 3_600_000

/** Does it once. */
export async function sweepInvocations(relay: RelayContext): Promise<void> {
  // First, so that a held answer that nobody confirmed has not just timed out.
  await sweepConsents(relay)
  const { sql } = relay.database
  const now = relay.clock.now()
  const late = sql
    .selectFrom('invocations')
    .select('id')
    .where('status', 'in', ['pending', 'in_progress'])
    .where('deadline_at', '<=', now)
    .limit(MAX_SWEPT)
  const ended = await sql
    .updateTable('invocations')
    .set({
      status: 'timeout',
      error_code: 'timeout',
      error_message: 'nobody answered in time',
      completed_at: now,
      lease_id: null,
      lease_until: null,
    })
    .where('id', 'in', late)
    .where('status', 'in', ['pending', 'in_progress'])
    .returning('id')
    .execute()
  for (const { id } of ended) relay.database.wakes.wake(invocationTopic(id))
  await sql
    .updateTable('invocations')
    .set({ idempotency_key: null })
    .where('idempotency_key', 'is not', null)
    .where('created_at', '<=', now - IDEMPOTENCY_MS)
    .execute()
}

/** Again and again. @returns what ends it, and resolves when nothing of it is under way any more */
export function keepSweeping(relay: RelayContext): () => Promise<void> {
  let isOver = false
  let cancel = (): void => {}
  let under: Promise<void> = Promise.resolve()
  const sweep = (): void => {
    under = sweepInvocations(relay)
      .catch((error: unknown) => {
        relay.log.warn('relay.sweep-failed', { reason: error instanceof Error ? error.message : String(error) })
      })
      .then(plan)
  }
  const plan = (): void => {
    if (!isOver) cancel = relay.clock.after(SWEEP_MS, sweep)
  }
  plan()
  return async () => {
    isOver = true
    cancel()
    await under
  }
}
