/**
 * What changes between two agents, with who is told and what is kept of it.
 *
 * @module
 */
import { audit } from '../audit.ts'
import { notify } from '../consenting/notices.ts'
import { type Caller, manages } from '../identity/caller.ts'
import { Refusal } from '../refusal.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type FriendshipRow } from '../storage/network-rows.ts'
import { type Inside, type Sql } from '../storage/open.ts'
import { type Friendship, findFriendship, liveBetween } from './friendships.ts'

/** @throws {Refusal} `conflict` */
export async function refuseLive(sql: Sql, proposerId: string, targetId: string): Promise<void> {
  const live = await liveBetween(sql, proposerId, targetId)
  if (live === undefined) return
  if (live.status === 'accepted') throw new Refusal('conflict', 'the two agents are friends already')
  throw new Refusal(
    'conflict',
    live.proposer_agent_id === proposerId
      ? 'this friendship is proposed already'
      : `the other agent proposed it already: accept or counter ${live.id}`,
  )
}

interface Proposal {
  readonly proposerId: string
  readonly targetId: string
  readonly message: string | undefined
  readonly counterOf?: string
}

export async function insertProposal(
  relay: RelayContext,
  inside: Inside,
  caller: Caller,
  { proposerId, targetId, message: said, counterOf }: Proposal,
): Promise<FriendshipRow> {
  const now = relay.clock.now()
  const row: FriendshipRow = {
    id: newId(relay),
    proposer_agent_id: proposerId,
    target_agent_id: targetId,
    status: 'proposed',
    proposer_message: said ?? null,
    response_message: null,
    counter_of_id: counterOf ?? null,
    proposer_user_id: caller.userId,
    decided_by_user_id: null,
    created_at: now,
    updated_at: now,
    decided_at: null,
  }
  await inside.sql.insertInto('friendships').values(row).execute()
  await notify(relay, inside, targetId, 'friendship_proposed', {
    friendship_id: row.id,
    proposer_agent_id: proposerId,
    message: row.proposer_message,
  })
  return row
}

interface Decision {
  readonly to: FriendshipRow['status']
  readonly by: 'proposer' | 'target' | 'either'
}

const VERBS: Readonly<Record<FriendshipRow['status'], string>> = {
  proposed: 'propose',
  accepted: 'accept',
  rejected: 'reject',
  cancelled: 'cancel',
  countered: 'counter',
  ended: 'end',
}

/** @throws {Refusal} `not_found`, `forbidden` for the wrong side, `conflict` where it is decided already */
export async function decide(
  relay: RelayContext,
  inside: Inside,
  caller: Caller,
  input: { readonly friendship_id: string; readonly response_message?: string | undefined },
  { to, by }: Decision,
): Promise<string> {
  const { sql } = inside
  const found = await findFriendship(sql, caller, input.friendship_id)
  const sides = { proposer: manages(caller, found.proposer), target: manages(caller, found.target), either: true }
  if (!sides[by]) throw new Refusal('forbidden', `expected an agent of yours to be the ${by} of this friendship`)
  const from = to === 'ended' ? 'accepted' : 'proposed'
  if (found.status !== from)
    throw new Refusal('conflict', `expected a friendship that is ${from}, found ${found.status}`)
  const now = relay.clock.now()
  await sql
    .updateTable('friendships')
    .set({
      status: to,
      response_message: input.response_message ?? found.response_message,
      decided_by_user_id: caller.userId,
      decided_at: now,
      updated_at: now,
    })
    .where('id', '=', found.id)
    .execute()
  const other = manages(caller, found.target) ? found.proposer_agent_id : found.target_agent_id
  await notify(relay, inside, other, 'friendship_decided', { friendship_id: found.id, status: to })
  await deed(relay, sql, caller, VERBS[to], found)
  return found.id
}

export async function deed(
  relay: RelayContext,
  sql: Sql,
  caller: Caller,
  verb: string,
  { id: resourceId, proposer, target }: Friendship,
): Promise<void> {
  const own = manages(caller, proposer) ? proposer : target
  await audit(relay, sql, caller, {
    action: `friendship.${verb}`,
    resourceId,
    targetId: own === proposer ? target.id : proposer.id,
    accountId: own.account_id,
    summary: `${verb}: friendship of ${proposer.account_slug}/${proposer.slug} and ${target.account_slug}/${target.slug}`,
  })
}
