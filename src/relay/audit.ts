/**
 * What was done, by whom and with which credential. Reading is not audited.
 *
 * @module
 */
import { type Caller } from './identity/caller.ts'
import { newId, type RelayContext } from './relay-context.ts'
import { type Sql } from './storage/open.ts'

export interface Deed {
  /** Such as `agent.create`. */
  readonly action: `${string}.${string}`
  readonly resourceId: string
  readonly targetId?: string | undefined
  readonly accountId?: string | undefined
  /** One line for people, without payloads. */
  readonly summary: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

/** In the transaction of the deed itself, so that there is no deed without it. */
export async function audit(relay: RelayContext, sql: Sql, caller: Caller | undefined, deed: Deed): Promise<void> {
  await sql
    .insertInto('audit_events')
    .values({
      id: newId(relay),
      actor_user_id: caller?.userId ?? null,
      account_id: deed.accountId ?? null,
      credential_kind: caller?.kind ?? null,
      credential_id: caller?.credentialId ?? null,
      action: deed.action,
      resource_type: deed.action.split('.')[0] ?? '',
      resource_id: deed.resourceId,
      target_id: deed.targetId ?? null,
      summary: deed.summary,
      metadata: JSON.stringify(deed.metadata ?? {}),
      created_at: relay.clock.now(),
    })
    .execute()
}
