/**
 * Programs that were let in, and letting in those that have no browser.
 *
 * @module
 */
import { html } from 'hono/html'
import { renderSVG } from 'uqr'
import { audit } from '../audit.ts'
import { decideDevice, findDevice, readUserCode } from '../authorization/device-flow.ts'
import { isoTime } from '../fields.ts'
import { type Pairing, type PairingKind, pairingsOf } from '../identity/pairings.ts'
import { insertAgent } from '../network/agent-operations.ts'
import { findOwnAgent, ownAgents } from '../network/agents.ts'
import { notFound, Refusal } from '../refusal.ts'
import { agentChoice, readChoice } from './agent-choice.ts'
import { askAs } from './asking.ts'
import { type Markup, shownTime, showPage, table } from './layout.ts'
import { type PageRoute, type Visit } from './page-route.ts'
import { type Visitor } from './visitor.ts'

const KINDS: Readonly<Record<PairingKind, string>> = { oauth: 'by browser', device_flow: 'by code', api_key: 'API key' }
const SCOPES = { all: 'all agents', own: 'its own agents', selected: 'some agents' } as const
const MAX_QR_CHARS = 500

async function showPair({ relay, context }: Visit, visitor: Visitor, code: string | undefined): Promise<Response> {
  const now = relay.clock.now()
  const { sql } = relay.database
  const device = code === undefined ? undefined : await findDevice(sql, code, now)
  if (code !== undefined && (device === undefined || device.status !== 'pending')) {
    return showPage(context, {
      title: 'Let a program in',
      status: 404,
      visitor,
      body: html`<p class="note bad" role="alert">There is no program that waits with the code ${readUserCode(code)}, or not any more: codes are good for ten minutes.</p>${codeForm()}`,
    })
  }
  if (device !== undefined) {
    const hints = JSON.parse(device.hints) as Readonly<Record<string, string>>
    const agents = await ownAgents(sql, visitor.caller)
    return showPage(context, {
      title: 'Let this program in?',
      visitor,
      body: html`<p>A program shows the code <strong>${device.user_code}</strong>. Go on only if it is the one in front of you.</p>
<form method="post" action="/app/pair"><input type="hidden" name="csrf" value="${visitor.csrf}">
<input type="hidden" name="code" value="${device.user_code}">
<label for="agent_id">The agent that it is</label>
<select id="agent_id" name="agent_id"><option value="">A new one, named below</option>
${agents.map((agent) => html`<option value="${agent.id}">${agent.account_slug}/${agent.slug}</option>`)}</select>
<label for="slug">Short name of a new agent</label><input id="slug" name="slug" type="text" value="${hints['agent_slug_hint'] ?? ''}" maxlength="32">
<label for="name">Name of a new agent</label><input id="name" name="name" type="text" value="${hints['agent_display_name_hint'] ?? ''}" maxlength="200">
${agentChoice(agents, 'selected', [])}
<div class="actions"><button class="main" name="decision" value="allow">Let it in</button>
<button name="decision" value="deny">Do not</button></div></form>`,
    })
  }
  const pairings = await pairingsOf(sql, visitor.caller.userId, now)
  return showPage(context, {
    title: 'Programs',
    visitor,
    body: html`<h2>Let a program in that shows a code</h2>${codeForm()}<h2>Programs that are let in</h2>
${table(
  ['Program', 'How', 'For', 'Since', 'Last used', ''],
  pairings.map((pairing) => row(pairing, visitor)),
  'There is none yet.',
)}`,
  })
}

function codeForm(): Markup {
  return html`<form method="get" action="/app/pair"><label for="session">Code, such as ABCD-2345</label>
<input id="session" name="session" type="text" autocomplete="off" autocapitalize="characters" maxlength="20" required> <button>Go on</button></form>`
}

function row({ kind, id, name, agentScope, createdAt, lastUsedAt }: Pairing, { csrf }: Visitor): (string | Markup)[] {
  return [
    name,
    KINDS[kind],
    SCOPES[agentScope],
    shownTime(isoTime(createdAt)),
    lastUsedAt === null ? 'never' : shownTime(isoTime(lastUsedAt)),
    html`<form method="post" action="/app/pair/end"><input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="kind" value="${kind}"><input type="hidden" name="id" value="${id}"><button aria-label="End ${name}">End</button></form>`,
  ]
}

export const PAIR_PAGES: readonly PageRoute[] = [
  {
    method: 'GET',
    path: '/app/pair',
    show: (visit) => showPair(visit, visit.visitor, visit.context.req.query('session')),
  },
  {
    method: 'POST',
    path: '/app/pair',
    show: async (visit) => {
      const { relay, context, visitor, form } = visit
      const { caller } = visitor
      const isYes = form.get('decision') === 'allow'
      const choice = isYes ? await readPairChoice(visit, visitor) : ({ agentScope: 'all', selected: [] } as const)
      const isDone = await relay.database.transaction(async (sql) => {
        const device = await findDevice(sql, form.get('code') ?? '', relay.clock.now())
        if (device === undefined) throw notFound('a program with this code')
        const agentId = isYes ? await agentOf(visit, visitor, sql) : null
        if (!(await decideDevice(sql, device, { isYes, userId: caller.userId, agentId, ...choice }))) return false
        if (agentId !== null) {
          const summary = `let in a program that showed a code, for ${choice.agentScope} agents`
          await audit(relay, sql, caller, { action: 'agent.pair', resourceId: agentId, summary })
        }
        return true
      })
      if (!isDone) throw new Refusal('conflict', 'this code was used already')
      return showPage(context, {
        title: isYes ? 'It is let in' : 'It is not let in',
        visitor,
        body: html`<p class="note good" role="status">${isYes ? 'The program goes on by itself. You can close this page.' : 'The program hears of it.'}</p>`,
      })
    },
  },
  {
    method: 'POST',
    path: '/app/pair/end',
    show: async (visit) => {
      const { context, visitor, form } = visit
      await askAs(visit, visitor, 'revoke_pairing', { kind: form.get('kind'), id: form.get('id') })
      return context.redirect('/app/pair', 303)
    },
  },
  {
    method: 'GET',
    path: '/qr',
    isOpen: true,
    show: ({ relay, context }) => {
      const data = context.req.query('data') ?? ''
      // Nobody gets pictures of other addresses from here.
      if (data.length > MAX_QR_CHARS || !data.startsWith(`${relay.settings.publicUrl}/`)) {
        throw new Refusal('invalid_request', 'expected an address of this relay')
      }
      context.header('content-type', 'image/svg+xml')
      context.header('content-security-policy', "default-src 'none'")
      return context.body(renderSVG(data))
    },
  },
]

/** The agent itself is among those chosen. */
async function readPairChoice({ relay, form }: Visit, { caller }: Visitor) {
  if (form.get('agent_scope') === 'selected' && form.getAll('agent').length === 0) {
    return { agentScope: 'selected', selected: [] } as const
  }
  return readChoice(relay.database.sql, caller, form)
}

async function agentOf(
  { relay, form }: Visit,
  { caller }: Visitor,
  sql: Parameters<typeof findOwnAgent>[0],
): Promise<string> {
  const agentId = form.get('agent_id') ?? ''
  if (agentId !== '') return (await findOwnAgent(sql, caller, agentId)).id
  const [slug, name] = [(form.get('slug') ?? '').trim(), (form.get('name') ?? '').trim()]
  if (!/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(slug) || slug.length < 3 || slug.length > 32) {
    throw new Refusal('invalid_request', 'expected a short name of 3 to 32 lower-case letters, digits and hyphens')
  }
  const accounts = [...caller.roles].filter(([, role]) => role === 'owner')
  const [accountId] = accounts[0] ?? []
  if (accountId === undefined) throw new Refusal('forbidden', 'expected an account of your own')
  return insertAgent(relay, sql, caller, {
    account_id: accountId,
    slug,
    display_name: name === '' ? slug : name.slice(0, 200),
    description: '',
    visibility: 'private',
    agent_card_url: null,
    tags: [],
    accept_calls: 'friends',
    is_personal: 0,
  })
}
