/**
 * Where a person decides whether a program is let in.
 *
 * Holds: nothing is allowed but by a button on a page that shows who asks, what for, and where the browser goes then.
 *
 * @module
 */
import { html } from 'hono/html'
import {
  type AuthorizationRequest,
  answerLocation,
  readAuthorizationRequest,
} from '../authorization/authorization-request.ts'
import { findClient } from '../authorization/clients.ts'
import { issueCode } from '../authorization/token-grants.ts'
import { ownAgents } from '../network/agents.ts'
import { agentChoice, readChoice } from './agent-choice.ts'
import { showPage } from './layout.ts'
import { type PageRoute, type Visit } from './page-route.ts'
import { type Visitor } from './visitor.ts'

/** The request, or the response that ends it. */
async function read(
  { relay, context }: Visit,
  visitor: Visitor | undefined,
  given: URLSearchParams,
): Promise<AuthorizationRequest | Response> {
  const { publicUrl } = relay.settings
  const found = await readAuthorizationRequest(publicUrl, given, (id) => findClient(relay.database.sql, id))
  if (found.kind === 'good') return found.request
  if (found.kind === 'refused') return context.redirect(found.location, 303)
  return showPage(context, {
    title: 'This request cannot be answered',
    status: 400,
    visitor,
    body: html`<p class="note bad" role="alert">${found.message}</p><p>You were not sent back there. Begin anew in the program.</p>`,
  })
}

/** What a form may lead to: browsers hold the whole way against the policy, the last address too. */
function sourceOf(redirectUri: string): string {
  const url = new URL(redirectUri)
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.origin : url.protocol
}

const PERMISSIONS = [
  'See and manage the agents that you choose, and what they can do',
  'Use what other agents can do, as one of them',
  'Answer what other agents ask of them',
]

export const AUTHORIZE_PAGES: readonly PageRoute[] = [
  {
    method: 'GET',
    path: '/oauth/authorize',
    isOpen: true,
    show: async (visit) => {
      const { relay, context, visitor } = visit
      const { search, searchParams } = new URL(context.req.url)
      const request = await read(visit, visitor, searchParams)
      if (request instanceof Response) return request
      if (visitor === undefined) {
        return context.redirect(`/login?return=${encodeURIComponent(`/oauth/authorize${search}`)}`, 303)
      }
      const agents = await ownAgents(relay.database.sql, visitor.caller)
      const { client, redirectUri, agentScope, agentIds } = request
      return showPage(context, {
        title: `Let ${client.name} in?`,
        visitor,
        leadsTo: [sourceOf(redirectUri)],
        body: html`<p><strong>${client.name}</strong> asks to use this relay as ${visitor.caller.email}.
Anybody can give a program this name: go on only if you have just started it yourself.</p>
<dl><dt>It then gets word at</dt><dd><code>${redirectUri}</code></dd>
${client.uri === null ? '' : html`<dt>It says it is from</dt><dd><code>${client.uri}</code></dd>`}</dl>
<h2>What it may do</h2><ul>${PERMISSIONS.map((text) => html`<li>${text}</li>`)}</ul>
<p>You can take this back at any time under <a href="/app/pair">Programs</a>.</p>
<form method="post" action="/oauth/authorize">
<input type="hidden" name="csrf" value="${visitor.csrf}"><input type="hidden" name="request" value="${search.slice(1)}">
${agentChoice(agents, agentScope, agentIds)}
<div class="actions"><button class="main" name="decision" value="allow">Let it in</button>
<button name="decision" value="deny">Do not</button></div></form>`,
      })
    },
  },
  {
    method: 'POST',
    path: '/oauth/authorize',
    show: async (visit) => {
      const { relay, context, visitor, form } = visit
      const request = await read(visit, visitor, new URLSearchParams(form.get('request') ?? ''))
      if (request instanceof Response) return request
      const { publicUrl } = relay.settings
      if (form.get('decision') !== 'allow') {
        const denial = { error: 'access_denied', error_description: 'the person said no' }
        return context.redirect(answerLocation(publicUrl, request, denial), 303)
      }
      const choice = await readChoice(relay.database.sql, visitor.caller, form)
      const code = await issueCode(relay, request, { caller: visitor.caller, ...choice })
      return context.redirect(answerLocation(publicUrl, request, { code }), 303)
    },
  },
]
