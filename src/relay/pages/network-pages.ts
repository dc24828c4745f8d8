/**
 * Agents and what they can do, what passed between them, and what was done.
 *
 * @module
 */
import { html } from 'hono/html'
import { type ShownInvocation } from '../invoking/invocation-shape.ts'
import { type ShownAgent } from '../network/agent-shape.ts'
import { type ShownCapability } from '../network/capabilities.ts'
import { askAs } from './asking.ts'
import { type Markup, shownTime, showPage, table } from './layout.ts'
import { type PageRoute } from './page-route.ts'

interface AuditPage {
  readonly events: readonly { readonly created_at: string; readonly action: string; readonly summary: string }[]
  readonly next_cursor?: string
}

function json(value: unknown): Markup {
  return html`<pre>${JSON.stringify(value, null, 2)}</pre>`
}

export const NETWORK_PAGES: readonly PageRoute[] = [
  {
    method: 'GET',
    path: '/app/agents',
    show: async (visit) => {
      const { context, visitor } = visit
      const agents = await askAs<readonly ShownAgent[]>(visit, visitor, 'list_my_agents')
      const accounts = [...new Map(agents.map((agent) => [agent.account_id, agent.account_slug]))]
      const own = [...visitor.caller.roles.keys()].filter((id) => !accounts.some(([known]) => known === id))
      const rows = agents.map((agent) => [
        html`<a href="/app/agents/${agent.id}">${agent.account_slug}/${agent.slug}</a>`,
        agent.display_name,
        agent.visibility,
        agent.is_personal ? 'made by the relay for you' : agent.mode,
        String(agent.capability_count),
      ])
      return showPage(context, {
        title: 'Agents',
        visitor,
        body: html`${table(['Agent', 'Name', 'Seen by', 'Kind', 'Capabilities'], rows, 'There is none yet.')}
<h2>Make one</h2><form method="post" action="/app/agents"><input type="hidden" name="csrf" value="${visitor.csrf}">
<label for="account_id">Account</label><select id="account_id" name="account_id">
${[...accounts, ...own.map((id) => [id, 'my account'] as const)].map(([id, name]) => html`<option value="${id}">${name}</option>`)}</select>
<label for="slug">Short name</label><input id="slug" name="slug" type="text" pattern="[a-z0-9]+(-[a-z0-9]+)*" minlength="3" maxlength="32" required>
<label for="display_name">Name</label><input id="display_name" name="display_name" type="text" maxlength="200" required>
<label for="visibility">Seen by</label><select id="visibility" name="visibility"><option value="private">my account alone</option>
<option value="org">my organizations</option><option value="network">everybody</option></select>
<div class="actions"><button class="main">Make an agent</button></div></form>`,
      })
    },
  },
  {
    method: 'POST',
    path: '/app/agents',
    show: async (visit) => {
      const { context, visitor, form } = visit
      const names = ['account_id', 'slug', 'display_name', 'visibility']
      const input = Object.fromEntries(names.map((name) => [name, form.get(name) ?? '']))
      const { id } = await askAs<ShownAgent>(visit, visitor, 'create_agent', input)
      return context.redirect(`/app/agents/${id}`, 303)
    },
  },
  {
    method: 'GET',
    path: '/app/agents/:id',
    show: async (visit) => {
      const { relay, context, visitor } = visit
      const input = { agent_id: context.req.param('id') }
      const agent = await askAs<ShownAgent>(visit, visitor, 'get_agent', input)
      const capabilities = await askAs<readonly ShownCapability[]>(visit, visitor, 'list_capabilities', input)
      const rows = capabilities.map((one) => [
        one.name,
        one.description,
        one.visibility,
        one.semantics === 'human_in_loop' ? 'a person confirms answers' : 'by itself',
        one.public_invoke ? `everybody, ${one.public_monthly_quota_per_agent} times a month` : 'with a grant',
        one.consent?.required === true ? 'asked each time' : 'not asked',
      ])
      const name = `${agent.account_slug}/${agent.slug}`
      return showPage(context, {
        title: name,
        visitor,
        body: html`<p>${agent.display_name}: ${agent.description}</p>
<dl><dt>Seen by</dt><dd>${agent.visibility}</dd><dt>Takes calls of</dt><dd>${agent.accept_calls}</dd>
<dt>As a server of MCP</dt><dd><code>${relay.settings.publicUrl}/agents/${name}/mcp</code></dd></dl>
<h2>Capabilities</h2>${table(['Name', 'What', 'Seen by', 'Answers', 'Used by', 'Owner'], rows, 'There is none yet.')}`,
      })
    },
  },
  {
    method: 'GET',
    path: '/app/inbox',
    show: async (visit) => {
      const invocations = await askAs<readonly ShownInvocation[]>(visit, visit.visitor, 'list_invocations', {
        limit: 100,
      })
      const rows = invocations.map((one) => [
        html`<a href="/app/inbox/${one.id}">${one.capability_name}</a>`,
        one.i_served ? `in, from ${one.grantee_display_name}` : `out, to ${one.granter_display_name}`,
        one.status,
        shownTime(one.created_at),
      ])
      return showPage(visit.context, {
        title: 'Invocations',
        visitor: visit.visitor,
        body: table(['Capability', 'Which way', 'State', 'When'], rows, 'There is none yet.'),
      })
    },
  },
  {
    method: 'GET',
    path: '/app/inbox/:id',
    show: async (visit) => {
      const one = await askAs<ShownInvocation>(visit, visit.visitor, 'poll_invocation', {
        invocation_id: visit.context.req.param('id'),
      })
      return showPage(visit.context, {
        title: one.capability_name,
        visitor: visit.visitor,
        body: html`<dl><dt>State</dt><dd>${one.status}</dd><dt>Asked by</dt><dd>${one.grantee_display_name}</dd>
<dt>Served by</dt><dd>${one.granter_display_name}</dd><dt>When</dt><dd>${shownTime(one.created_at)}</dd>
${one.error_message === null ? '' : html`<dt>Why</dt><dd>${one.error_message}</dd>`}</dl>
<h2>What was asked</h2>${json(one.input_preview)}<h2>The answer</h2>${json(one.output_preview)}`,
      })
    },
  },
  {
    method: 'GET',
    path: '/app/audit',
    show: async (visit) => {
      const cursor = visit.context.req.query('cursor')
      const page = await askAs<AuditPage>(visit, visit.visitor, 'list_audit', cursor === undefined ? {} : { cursor })
      const rows = page.events.map((event) => [shownTime(event.created_at), event.action, event.summary])
      return showPage(visit.context, {
        title: 'Audit',
        visitor: visit.visitor,
        body: html`${table(['When', 'Deed', 'What'], rows, 'Nothing was done yet.')}
${page.next_cursor === undefined ? '' : html`<p><a href="/app/audit?cursor=${page.next_cursor}">Older</a></p>`}`,
      })
    },
  },
]
