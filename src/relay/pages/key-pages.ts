/**
 * API keys.
 *
 * @module
 */
import { html } from 'hono/html'
import { ownAgents } from '../network/agents.ts'
import { agentChoice, readChoice } from './agent-choice.ts'
import { askAs } from './asking.ts'
import { shownTime, showPage, table } from './layout.ts'
import { type PageRoute, type Visit } from './page-route.ts'
import { type Visitor } from './visitor.ts'

interface Key {
  readonly id: string
  readonly name: string
  readonly key_prefix: string
  readonly agent_scope: string
  readonly created_at: string
  readonly last_used_at: string | null
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

async function showKeys(visit: Visit, visitor: Visitor, made?: string): Promise<Response> {
  const { relay, context } = visit
  const keys = await askAs<readonly Key[]>(visit, visitor, 'list_api_keys')
  const agents = await ownAgents(relay.database.sql, visitor.caller)
  const { csrf } = visitor
  const act = (path: string, key: Key, word: string) =>
    html`<form method="post" action="/app/api-keys/${path}"><input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="id" value="${key.id}"><button aria-label="${word} ${key.name}">${word}</button></form>`
  const rows = keys
    .filter(({ revoked_at: revoked }) => revoked === null)
    .map((key) => [
      key.name,
      html`<code>${key.key_prefix}…</code>`,
      key.agent_scope,
      shownTime(key.created_at),
      key.last_used_at === null ? 'never' : shownTime(key.last_used_at),
      key.expires_at === null ? 'never' : shownTime(key.expires_at),
      html`${act('rotate', key, 'Rotate')} ${act('revoke', key, 'Revoke')}`,
    ])
  return showPage(context, {
    title: 'API keys',
    visitor,
    body: html`${
      made === undefined
        ? ''
        : html`<div class="note good" role="status"><p>This is the key. It is shown this once; keep it where nobody else reads it.</p><pre id="key">${made}</pre></div>`
    }
${table(['Name', 'Begins with', 'For', 'Made', 'Last used', 'Ends', ''], rows, 'There is none yet.')}
<h2>Make one</h2><form method="post" action="/app/api-keys"><input type="hidden" name="csrf" value="${csrf}">
<label for="name">What it is for</label><input id="name" name="name" type="text" maxlength="200" required>
<label for="days">Days until it ends; empty for never</label><input id="days" name="days" type="number" min="1" max="3650">
${agentChoice(agents, 'all', [])}<div class="actions"><button class="main">Make a key</button></div></form>`,
  })
}

export const KEY_PAGES: readonly PageRoute[] = [
  { method: 'GET', path: '/app/api-keys', show: (visit) => showKeys(visit, visit.visitor) },
  {
    method: 'POST',
    path: '/app/api-keys',
    show: async (visit) => {
      const { relay, visitor, form } = visit
      const { agentScope, selected } = await readChoice(relay.database.sql, visitor.caller, form)
      const days = form.get('days') ?? ''
      const { plaintext } = await askAs<{ readonly plaintext: string }>(visit, visitor, 'create_api_key', {
        name: form.get('name') ?? '',
        agent_scope: agentScope,
        ...(agentScope === 'selected' ? { selected_agent_ids: selected } : {}),
        ...(days === '' ? {} : { expires_in_days: Number(days) }),
      })
      return showKeys(visit, visitor, plaintext)
    },
  },
  {
    method: 'POST',
    path: '/app/api-keys/rotate',
    show: async (visit) => {
      const input = { key_id: visit.form.get('id') ?? '' }
      const { plaintext } = await askAs<{ readonly plaintext: string }>(visit, visit.visitor, 'rotate_api_key', input)
      return showKeys(visit, visit.visitor, plaintext)
    },
  },
  {
    method: 'POST',
    path: '/app/api-keys/revoke',
    show: async (visit) => {
      await askAs(visit, visit.visitor, 'revoke_api_key', { key_id: visit.form.get('id') ?? '' })
      return visit.context.redirect('/app/api-keys', 303)
    },
  },
]
