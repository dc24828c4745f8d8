/**
 * What an agent is told of what happens around it. A notice never has the input of a call in it.
 *
 * @module
 */
import { newId, type RelayContext } from '../relay-context.ts'
import { type NoticeRow } from '../storage/consent-rows.ts'
import { type Inside } from '../storage/open.ts'
import { type Topic } from '../storage/wakes.ts'

export type NoticeKind =
  | 'consent_requested'
  | 'consent_decided'
  | 'friendship_proposed'
  | 'friendship_decided'
  | 'grant_created'
  | 'grant_revoked'

export function noticesTopic(agentId: string): Topic {
  return `notices:${agentId}`
}

export async function notify(
  relay: Pick<RelayContext, 'ids' | 'clock'>,
  { sql, wake }: Inside,
  agentId: string,
  kind: NoticeKind,
  payload: Readonly<Record<string, string | null>>,
): Promise<void> {
  const row: NoticeRow = {
    id: newId(relay),
    agent_id: agentId,
    kind,
    payload: JSON.stringify(payload),
    created_at: relay.clock.now(),
    pulled_at: null,
  }
  await sql.insertInto('notices').values(row).execute()
  wake(noticesTopic(agentId))
}
