/**
 * From a request to use a capability to an invocation in the inbox of the agent that serves it.
 *
 * Holds: what is refused after it is known who calls whom leaves a row that says so.
 *
 * @module
 */

import { askForConsent, type ConsentTerms, useConsent } from '../consenting/holding.ts'
import { isoTime, isoTimeOrNull } from '../fields.ts'
import { type Caller } from '../identity/caller.ts'
import { admitInvocation } from '../metering/admission.ts'
import { type Agent } from '../network/agents.ts'
import { consentOf } from '../network/capabilities.ts'
import { misfitOf } from '../network/capability-schema.ts'
import { statusOf } from '../network/grants.ts'
import { type Asked } from '../operation.ts'
import { Refusal } from '../refusal.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type InvocationRow } from '../storage/invocation-rows.ts'
import { type CapabilityRow, type FriendshipRow, type GrantRow } from '../storage/network-rows.ts'
import { type Inside, type Sql } from '../storage/open.ts'
import { isPublic } from './calling-agent.ts'
import { type Trust } from './invocation-shape.ts'
import { inboxTopic } from './waiting.ts'

/** Who wants what of whom. */
export interface Wish {
  readonly granter: Agent
  readonly capability: CapabilityRow
  readonly grantee: Agent
  /** Null where it goes by the capability being public. */
  readonly grant: GrantRow | null
  readonly friendship: FriendshipRow | undefined
  /** JSON text. */
  readonly input: string
  /** What the caller would like to be allowed from now on. */
  readonly terms?: ConsentTerms | undefined
}

export interface Queued {
  readonly row: InvocationRow
  /** Why the row is rejected. */
  readonly refusal?: Refusal
}

/** In the caller's transaction. */
export async function queueInvocation(
  relay: RelayContext,
  { sql, wake }: Inside,
  caller: Caller,
  wish: Wish,
  asked: Asked,
): Promise<Queued> {
  const row = newRow(relay, caller, wish, asked)
  const refusal =
    (wish.grant === null ? await refusePublic(relay, sql, wish) : refuseGrant(relay, wish, wish.grant)) ??
    refuseInput(wish) ??
    (await admitInvocation(relay, sql, wish.grantee.account_id, row.id, asked))
  if (refusal === undefined) {
    const consent = consentOf(wish.capability)
    if (consent?.required === true && !(await useConsent(sql, row, row.created_at))) {
      const held: InvocationRow = { ...row, status: 'awaiting_consent', consent_request_id: newId(relay) }
      await sql.insertInto('invocations').values(held).execute()
      await askForConsent(relay, { sql, wake }, held, consent, wish.terms)
      return { row: held }
    }
    await sql.insertInto('invocations').values(row).execute()
    wake(inboxTopic(row.granter_agent_id))
    return { row }
  }
  const rejected: InvocationRow = {
    ...row,
    // The same key may be tried again: nothing was queued under it.
    idempotency_key: null,
    status: 'rejected',
    error_code: refusal.code,
    error_message: refusal.message,
    completed_at: row.created_at,
  }
  await sql.insertInto('invocations').values(rejected).execute()
  return { row: rejected, refusal }
}

function newRow(relay: RelayContext, caller: Caller, wish: Wish, asked: Asked): InvocationRow {
  const now = relay.clock.now()
  return {
    id: newId(relay),
    grant_id: wish.grant?.id ?? null,
    granter_agent_id: wish.granter.id,
    grantee_agent_id: wish.grantee.id,
    capability_id: wish.capability.id,
    capability_name: wish.capability.name,
    semantics: wish.capability.semantics,
    invoked_by_user_id: caller.userId,
    credential_id: caller.credentialId,
    idempotency_key: asked.idempotencyKey ?? null,
    status: 'pending',
    error_code: null,
    error_message: null,
    input: wish.input,
    output: null,
    trust_snapshot: JSON.stringify(trustOf(wish)),
    consent_request_id: null,
    created_at: now,
    deadline_at: now + relay.settings.invocationTimeoutSecs * 1_000,
    claimed_at: null,
    claimed_by_user_id: null,
    lease_id: null,
    lease_until: null,
    attempts: 0,
    completed_at: null,
  }
}

function refuseGrant({ clock }: RelayContext, { friendship }: Wish, grant: GrantRow): Refusal | undefined {
  const status = statusOf(grant, clock.now())
  if (status === 'revoked') return new Refusal('chk.policy.grant_revoked', 'the grant was revoked')
  if (status === 'expired') return new Refusal('chk.policy.grant_expired', 'the time of the grant is over')
  if (friendship === undefined) {
    return new Refusal('chk.policy.friendship_required', 'expected the two agents to be friends still')
  }
  return undefined
}

/** Every attempt of an agent counts, in the month of UTC. */
async function refusePublic({ clock }: RelayContext, sql: Sql, wish: Wish): Promise<Refusal | undefined> {
  const { granter, grantee, capability } = wish
  if (!isPublic(wish)) throw new Refusal('not_found', 'expected a capability that is public, found none')
  if (granter.account_id === grantee.account_id) {
    return new Refusal('chk.policy.grant_required', 'agents of one account use grants, not what is public')
  }
  const quota = capability.public_monthly_quota_per_agent ?? 0
  const now = new Date(clock.now())
  const month = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1)
  const { count } = await sql
    .selectFrom('invocations')
    .select((of) => of.fn.countAll<number>().as('count'))
    .where('grantee_agent_id', '=', grantee.id)
    .where('capability_id', '=', capability.id)
    .where('grant_id', 'is', null)
    .where('created_at', '>=', month)
    .executeTakeFirstOrThrow()
  if (Number(count) < quota) return undefined
  const resets = isoTime(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1))
  return new Refusal(
    'monthly_quota_exhausted',
    `expected at most ${quota} invocations of ${capability.name} a month by an agent; the next month begins at ${resets}`,
    { detail: { quota, resets_at: resets } },
  )
}

function refuseInput({ capability, input }: Wish): Refusal | undefined {
  const misfit = misfitOf(capability.input_schema, JSON.parse(input))
  return misfit === undefined ? undefined : new Refusal('invalid_request', `input: ${misfit}`)
}

function trustOf({ grant, friendship, capability }: Wish): Trust {
  return {
    ...(friendship === undefined
      ? {}
      : {
          friendship_context: {
            id: friendship.id,
            status: friendship.status,
            proposer_agent_id: friendship.proposer_agent_id,
            target_agent_id: friendship.target_agent_id,
            proposer_message: friendship.proposer_message,
            response_message: friendship.response_message,
            decided_at: isoTimeOrNull(friendship.decided_at),
          },
        }),
    ...(grant === null
      ? {}
      : {
          grant_context: {
            id: grant.id,
            status: grant.status,
            granter_agent_id: grant.granter_agent_id,
            grantee_agent_id: grant.grantee_agent_id,
            capability_id: grant.capability_id,
            capability_name: capability.name,
            capability_visibility: capability.visibility,
            granted_at: isoTime(grant.granted_at),
            expires_at: isoTimeOrNull(grant.expires_at),
            purpose: grant.purpose,
          },
        }),
  }
}
