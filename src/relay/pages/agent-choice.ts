/**
 * For which agents a person lets a program in.
 *
 * @module
 */
import { html } from 'hono/html'
import { type Caller } from '../identity/caller.ts'
import { type Agent, ownAgents } from '../network/agents.ts'
import { Refusal } from '../refusal.ts'
import { type AgentScope } from '../storage/identity-rows.ts'
import { type Sql } from '../storage/open.ts'
import { type Markup } from './layout.ts'

const MAX_SHOWN = 200

const CHOICES: readonly (readonly [AgentScope, string])[] = [
  ['all', 'All my agents, also those to come'],
  ['own', 'Only agents that it makes itself'],
  ['selected', 'Only these:'],
]

export function agentChoice(agents: readonly Agent[], scope: AgentScope, ids: readonly string[]): Markup {
  return html`<fieldset><legend>Which agents may it act as, and manage?</legend>
${CHOICES.map(
  ([value, text]) =>
    html`<label class="choice"><input type="radio" name="agent_scope" value="${value}" ${value === scope ? 'checked' : ''}> ${text}</label>`,
)}
${agents
  .slice(0, MAX_SHOWN)
  .map(
    (agent) =>
      html`<label class="choice">&emsp;<input type="checkbox" name="agent" value="${agent.id}" ${ids.includes(agent.id) ? 'checked' : ''}> ${agent.account_slug}/${agent.slug}</label>`,
  )}</fieldset>`
}

export interface Choice {
  readonly agentScope: AgentScope
  readonly selected: readonly string[]
}

/** @throws {Refusal} `invalid_request` for agents of others, or none where some are to be chosen */
export async function readChoice(sql: Sql, caller: Caller, form: URLSearchParams): Promise<Choice> {
  const scope = form.get('agent_scope')
  if (scope !== 'all' && scope !== 'own' && scope !== 'selected') {
    throw new Refusal('invalid_request', 'expected a choice of agents')
  }
  if (scope !== 'selected') return { agentScope: scope, selected: [] }
  const own = new Set((await ownAgents(sql, caller)).map(({ id }) => id))
  const selected = form.getAll('agent')
  if (selected.length === 0 || selected.some((id) => !own.has(id))) {
    throw new Refusal('invalid_request', 'expected at least one agent of yours to be chosen')
  }
  return { agentScope: scope, selected }
}
