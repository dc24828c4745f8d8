/**
 * What waits for the word of a person.
 *
 * @module
 */
import { html } from 'hono/html'
import { isApprover } from '../consenting/approvers.ts'
import { findRequest, type ShownRequest } from '../consenting/consent-shape.ts'
import { askAs } from './asking.ts'
import { type Markup, shownTime, showPage, table } from './layout.ts'
import { type PageRoute } from './page-route.ts'

const KINDS = { request: 'A call that wants to come in', reply: 'An answer that wants to go out' } as const

function json(value: unknown): Markup {
  return html`<pre>${JSON.stringify(value, null, 2)}</pre>`
}

function lasting(seconds: number): string {
  const days = seconds / 86_400
  return days >= 1 ? `${Math.round(days * 10) / 10} days` : `${Math.round(seconds / 360) / 10} hours`
}

function terms({ valid_for: valid, max_requests: max }: ShownRequest): string {
  if (valid === null) return 'this one call'
  return `${max === null ? 'as many calls as come' : `${max} calls`} within ${lasting(valid)}`
}

export const APPROVAL_PAGES: readonly PageRoute[] = [
  {
    method: 'GET',
    path: '/app/approvals',
    show: async (visit) => {
      const requests = await askAs<readonly ShownRequest[]>(visit, visit.visitor, 'list_consent_requests', {
        status: 'pending',
      })
      const mine = requests.filter(({ input }) => input !== undefined)
      const rows = mine.map((request) => [
        html`<a href="/app/consent/${request.consent_request_id}">${KINDS[request.kind]}</a>`,
        `${request.capability_name} of ${request.serving_agent}`,
        request.requester,
        shownTime(request.expires_at),
      ])
      return showPage(visit.context, {
        title: 'Approvals',
        visitor: visit.visitor,
        body: table(['What', 'Of', 'From', 'Decide before'], rows, 'Nothing waits for you.'),
      })
    },
  },
  {
    method: 'GET',
    path: '/app/consent/:id',
    show: async (visit) => {
      const { relay, context, visitor } = visit
      const id = context.req.param('id')
      const request = await askAs<ShownRequest>(visit, visitor, 'consent_status', { consent_request_id: id })
      const { serving, capability } = await findRequest(relay.database.sql, visitor.caller, request.consent_request_id)
      const decides = request.status === 'pending' && isApprover(visitor.caller, serving.account_id, capability)
      return showPage(context, {
        title: KINDS[request.kind],
        visitor,
        body: html`<dl><dt>Capability</dt><dd>${request.capability_name} of ${request.serving_agent}</dd>
<dt>${request.kind === 'reply' ? 'Goes to' : 'Comes from'}</dt><dd>${request.requester}</dd>
${request.purpose === null ? '' : html`<dt>Purpose, as they say</dt><dd>${request.purpose}</dd>`}
${request.kind === 'request' ? html`<dt>A yes is good for</dt><dd>${terms(request)}</dd>` : ''}
<dt>State</dt><dd>${request.status}${request.reason === null ? '' : `: ${request.reason}`}</dd>
<dt>Decide before</dt><dd>${shownTime(request.expires_at)}</dd></dl>
${request.input === undefined ? '' : html`<h2>What was asked</h2>${json(request.input)}`}
${request.draft_output === undefined ? '' : html`<h2>The answer</h2>${json(request.draft_output)}`}
${
  decides
    ? html`<form method="post" action="/app/consent/${request.consent_request_id}">
<input type="hidden" name="csrf" value="${visitor.csrf}"><label for="reason">Reason, for a no</label>
<input id="reason" name="reason" type="text" maxlength="500"><div class="actions">
<button class="main" name="decision" value="approve">${request.kind === 'reply' ? 'Send it' : 'Let it in'}</button>
<button name="decision" value="deny">No</button></div></form>`
    : html`<p>There is nothing for you to decide here.</p>`
}`,
      })
    },
  },
  {
    method: 'POST',
    path: '/app/consent/:id',
    show: async (visit) => {
      const { context, visitor, form } = visit
      const id = context.req.param('id')
      const reason = (form.get('reason') ?? '').trim()
      if (form.get('decision') === 'approve') {
        await askAs(visit, visitor, 'approve_consent_request', { consent_request_id: id })
      } else {
        const said = reason === '' ? {} : { reason }
        await askAs(visit, visitor, 'deny_consent_request', { consent_request_id: id, ...said })
      }
      return context.redirect(`/app/consent/${id}`, 303)
    },
  },
]
