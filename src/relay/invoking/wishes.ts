/**
 * The ways in which a request says what it wants: by a grant, by a capability, or by names.
 *
 * @module
 */
import { type Caller, manages } from '../identity/caller.ts'
import { type Agent, agentsById, findAgent, refusePush } from '../network/agents.ts'
import { selectCapabilities, visibleCapabilities } from '../network/capabilities.ts'
import { friendshipBetween } from '../network/friendships.ts'
import { findGrant } from '../network/grants.ts'
import { notFound, Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type CapabilityRow } from '../storage/network-rows.ts'
import { type Sql } from '../storage/open.ts'
import { chooseCallingAgent, isPublic } from './calling-agent.ts'
import { type Wish } from './queueing.ts'

export interface Addressed {
  readonly grant_id?: string | undefined
  readonly capability_id?: string | undefined
  readonly agent?: string | undefined
  readonly capability?: string | undefined
  /** The agent to call as. */
  readonly grantee_agent_id?: string | undefined
}

/** @throws {Refusal} before anybody is known to want anything, so that there is nothing to keep */
export async function readWish(
  relay: RelayContext,
  sql: Sql,
  caller: Caller,
  addressed: Addressed,
  input: string,
): Promise<Wish> {
  const { grant_id: grantId, grantee_agent_id: named } = addressed
  if (grantId !== undefined) return byGrant(sql, caller, grantId, named, input)
  const { granter, capability } = await targetOf(sql, caller, addressed)
  refusePush(granter)
  const calling = await chooseCallingAgent(relay, sql, caller, { granter, capability }, named)
  if (calling.grant === undefined) {
    return { granter, capability, grantee: calling.grantee, grant: null, friendship: undefined, input }
  }
  return { granter, capability, ...calling, input }
}

async function byGrant(
  sql: Sql,
  caller: Caller,
  grantId: string,
  named: string | undefined,
  input: string,
): Promise<Wish> {
  const grant = await findGrant(sql, caller, grantId)
  const { granter, grantee } = grant
  const fullName = `${grantee.account_slug}/${grantee.slug}`
  if (named !== undefined && named !== grantee.id && named !== fullName && named !== grantee.slug) {
    throw new Refusal('invalid_request', `grantee_agent_id: expected the agent that has the grant, ${grantee.id}`)
  }
  if (!manages(caller, grantee)) throw new Refusal('forbidden', 'expected a grant that an agent of yours has')
  refusePush(granter)
  const capability = await selectCapabilities(sql).where('capabilities.id', '=', grant.capability_id).executeTakeFirst()
  if (capability === undefined) throw notFound('the capability of the grant')
  const friendship = await friendshipBetween(sql, granter.id, grantee.id)
  return { granter, capability, grantee, grant, friendship, input }
}

async function targetOf(
  sql: Sql,
  caller: Caller,
  { agent, capability, capability_id: capabilityId }: Addressed,
): Promise<{ readonly granter: Agent; readonly capability: CapabilityRow }> {
  if (capabilityId !== undefined) {
    const found = await selectCapabilities(sql).where('capabilities.id', '=', capabilityId).executeTakeFirst()
    const granter = found === undefined ? undefined : (await agentsById(sql, [found.agent_id])).get(found.agent_id)
    if (found === undefined || granter === undefined || granter.tombstoned_at !== null) throw notFound('a capability')
    if (isPublic({ granter, capability: found })) return { granter, capability: found }
    const visible = await visibleCapabilities(sql, caller, await findAgent(sql, caller, granter.id))
    if (!visible.some(({ id }) => id === found.id)) throw notFound('a capability')
    return { granter, capability: found }
  }
  if (agent === undefined || capability === undefined) {
    throw new Refusal('invalid_request', 'expected agent and capability, or capability_id, or grant_id')
  }
  const granter = await findAgent(sql, caller, agent)
  const found = (await visibleCapabilities(sql, caller, granter)).find(({ name }) => name === capability)
  if (found === undefined) throw notFound(`a capability ${JSON.stringify(capability)} of this agent`)
  return { granter, capability: found }
}
