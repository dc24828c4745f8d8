/**
 * One agent as a server of MCP: what you can call of it now are its tools.
 *
 * @module
 */

import { type JsonObject, type JsonValue } from '../../core/json.ts'
import { isUuid } from '../../core/uuid.ts'
import { type ToolServer } from '../../mcp/stateless/index.ts'
import { type Caller } from '../identity/caller.ts'
import { type Callability, callabilities } from '../invoking/calling-agent.ts'
import { isOpen } from '../invoking/invocation-shape.ts'
import { awaitInvocation, outcomeOf, refuseStrangers, startInvocation } from '../invoking/invoke-operations.ts'
import { MAX_WAIT_SECS } from '../invoking/waiting.ts'
import { type Agent } from '../network/agents.ts'
import { visibleCapabilities } from '../network/capabilities.ts'
import { profileOf } from '../network/discovery-operations.ts'
import { absenceNote } from '../network/presence.ts'
import { notFound, Refusal } from '../refusal.ts'
import { describeCapability, inputOf, toolNames } from './agent-tools.ts'
import { SERVER_INFO } from './network-server.ts'
import { refusedResult, resultOf, type ToolCall } from './operation-tools.ts'

const ABOUT = 'chakramcp_about'
const GET_RESULT = 'chakramcp_get_result'

const OWN_TOOLS: readonly JsonObject[] = [
  {
    name: ABOUT,
    title: 'About this agent',
    description: 'Its profile, what you cannot call of it yet, and how to get access',
    inputSchema: { type: 'object', properties: {} },
    annotations: { title: 'About this agent', readOnlyHint: true, openWorldHint: false },
  },
  {
    name: GET_RESULT,
    title: 'Get a result',
    description: 'What became of an earlier call that was not done in time',
    inputSchema: {
      type: 'object',
      properties: {
        invocation_id: { type: 'string', format: 'uuid' },
        wait_seconds: { type: 'integer', minimum: 0, maximum: MAX_WAIT_SECS },
      },
      required: ['invocation_id'],
    },
    annotations: { title: 'Get a result', readOnlyHint: true, openWorldHint: false },
  },
]

export interface AgentCall extends ToolCall {
  readonly caller: Caller
  readonly agent: Agent
  /** The agent to call as, where one is named. */
  readonly as: string | undefined
}

export function agentServer(call: AgentCall): ToolServer {
  const { agent, asked, asRefusal } = call
  return {
    info: { ...SERVER_INFO, name: `${agent.account_slug}/${agent.slug}` },
    instructions: agent.description === '' ? `What ${agent.display_name} can do for you.` : agent.description,
    tools: async () => {
      const all = await callabilitiesOf(call)
      const tools = [...toolsOf(all)].filter(([, { isCallable }]) => isCallable)
      return [...tools.map(([name, { capability }]) => describeCapability(name, capability)), ...OWN_TOOLS]
    },
    call: async (name, args) => {
      try {
        if (name === ABOUT) return resultOf(await about(call))
        if (name === GET_RESULT) return await getResult(call, args)
        return await callCapability(call, name, args)
      } catch (error) {
        const { structuredContent, ...result } = refusedResult(asRefusal(error), asked.headers)
        return { ...result, structuredContent: { ...(structuredContent as JsonObject), status: 'refused' } }
      }
    },
  }
}

async function callabilitiesOf({ relay, caller, agent, as }: AgentCall): Promise<readonly Callability[]> {
  const { sql } = relay.database
  return callabilities(relay, sql, caller, agent, await visibleCapabilities(sql, caller, agent), as)
}

/** All that there are, whether they can be called or not: a grant changes the name of none. */
function toolsOf(all: readonly Callability[]): ReadonlyMap<string, Callability> {
  const byId = new Map(all.map((one) => [one.capability.id, one]))
  const tools = new Map<string, Callability>()
  for (const [name, { id }] of toolNames(all.map(({ capability }) => capability))) {
    const found = byId.get(id)
    if (found !== undefined) tools.set(name, found)
  }
  return tools
}

/** A tool that cannot be called now is refused with the reason, since a client may have listed the tools before. */
async function callCapability(call: AgentCall, name: string, args: JsonObject): Promise<JsonObject | undefined> {
  const { relay, caller, agent, as, asked } = call
  const tool = toolsOf(await callabilitiesOf(call)).get(name)
  if (tool === undefined) return undefined
  if (!tool.isCallable) throw tool.reason
  const { capability } = tool
  const addressed = { agent: agent.id, capability: capability.name, grantee_agent_id: as }
  const { id } = await startInvocation(relay, caller, addressed, inputOf(capability, args), asked)
  return outcome(call, id, relay.settings.agentWaitSecs)
}

async function getResult(
  call: AgentCall,
  { invocation_id: id, wait_seconds: secs = 0 }: JsonObject,
): Promise<JsonObject> {
  const { relay, caller, agent, asked } = call
  if (typeof id !== 'string' || !isUuid(id)) throw new Refusal('invalid_request', 'invocation_id: expected a UUID')
  if (typeof secs !== 'number' || !Number.isInteger(secs) || secs < 0 || secs > MAX_WAIT_SECS) {
    throw new Refusal('invalid_request', `wait_seconds: expected a whole number from 0 to ${MAX_WAIT_SECS}`)
  }
  const invocation = await awaitInvocation(relay, id, 0, asked.signal)
  refuseStrangers(caller, invocation)
  if (invocation.granter_agent_id !== agent.id) throw notFound('a call of this agent')
  return outcome(call, id, secs)
}

async function outcome({ relay, asked }: AgentCall, id: string, waitSecs: number): Promise<JsonObject> {
  const invocation = await awaitInvocation(relay, id, waitSecs, asked.signal)
  const { status, output, error, code, peer, consent_request_id: consent } = outcomeOf(relay, invocation)
  const meta = asked.meta.size === 0 ? {} : { _meta: Object.fromEntries(asked.meta) }
  if (status === 'succeeded') {
    return { ...resultOf({ status, invocation_id: id, output: (output ?? null) as JsonValue }), ...meta }
  }
  if (isOpen(invocation)) {
    const held = consent === undefined ? {} : { consent_request_id: consent }
    const value = { status, invocation_id: id, ...held, ...(peer === undefined ? {} : { peer: { ...peer } }) }
    const waits = status === 'awaiting_consent' ? 'It waits for the approval of its owner.' : 'It is still running.'
    const absent = peer === undefined ? undefined : absenceNote(peer)
    const note = [waits, `Fetch its result later with ${GET_RESULT}.`, ...(absent === undefined ? [] : [absent])].join(
      ' ',
    )
    return { ...resultOf(value, note), ...meta }
  }
  const failed = { status: status === 'rejected' ? 'refused' : status, code: code ?? status, invocation_id: id }
  return {
    content: [{ type: 'text', text: error ?? status }],
    isError: true,
    structuredContent: { ...failed, message: error ?? status },
  }
}

async function about(call: AgentCall): Promise<JsonObject> {
  const { relay, caller, agent, as } = call
  const all = await callabilitiesOf(call)
  const tools = [...toolsOf(all)]
  const profile = await profileOf(relay, caller, agent)
  return {
    agent: profile as unknown as JsonObject,
    callable: tools.flatMap(([tool, one]) =>
      one.isCallable
        ? [
            {
              capability: one.capability.name,
              tool,
              calling_as: one.as === undefined ? null : `${one.as.account_slug}/${one.as.slug}`,
            },
          ]
        : [],
    ),
    not_callable: all.flatMap((one) =>
      one.isCallable
        ? []
        : [{ capability: one.capability.name, reason: one.reason.code, next_step: one.reason.message }],
    ),
    calling_as: as ?? null,
  }
}
