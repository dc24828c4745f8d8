/**
 * The pages of the relay, for people.
 *
 * @module
 */
import { type Context, type Hono } from 'hono'
import { html } from 'hono/html'
import { asRefusal } from '../http/failure.ts'
import { type RelayContext } from '../relay-context.ts'
import { ACCOUNT_PAGES } from './account-pages.ts'
import { APPROVAL_PAGES } from './approval-pages.ts'
import { AUTHORIZE_PAGES } from './authorize-pages.ts'
import { KEY_PAGES } from './key-pages.ts'
import { showPage } from './layout.ts'
import { NETWORK_PAGES } from './network-pages.ts'
import { type PageRoute, type Visit } from './page-route.ts'
import { PAIR_PAGES } from './pair-pages.ts'
import { STYLE } from './style.ts'
import { refuseForeign, refuseForged, visitorOf } from './visitor.ts'

const PAGES: readonly PageRoute[] = [
  ...ACCOUNT_PAGES,
  ...AUTHORIZE_PAGES,
  ...PAIR_PAGES,
  ...KEY_PAGES,
  ...APPROVAL_PAGES,
  ...NETWORK_PAGES,
]

const MAX_FORM_CHARS = 100_000
const STYLE_SECS = 300

export function mountPages(app: Hono, relay: RelayContext): void {
  app.get('/app/style.css', (context) => {
    context.header('content-type', 'text/css; charset=utf-8')
    context.header('cache-control', `max-age=${STYLE_SECS}`)
    return context.body(STYLE)
  })
  for (const page of PAGES) {
    app.on(page.method, page.path, async (context) => {
      try {
        return await visit(relay, context, page)
      } catch (error) {
        return explain(relay, context, error)
      }
    })
  }
}

async function visit(relay: RelayContext, context: Context, page: PageRoute): Promise<Response> {
  const visitor = await visitorOf(relay, context)
  let form = new URLSearchParams()
  if (page.method === 'POST') {
    refuseForeign(relay, context)
    form = new URLSearchParams((await context.req.text()).slice(0, MAX_FORM_CHARS))
    if (visitor !== undefined) refuseForged(visitor, form)
  }
  const shared: Visit = { relay, context, form }
  if (page.isOpen === true) return page.show({ ...shared, visitor })
  if (visitor !== undefined) return page.show({ ...shared, visitor })
  const { pathname, search } = new URL(context.req.url)
  return context.redirect(`/login?return=${encodeURIComponent(pathname + search)}`, 303)
}

async function explain(relay: RelayContext, context: Context, error: unknown): Promise<Response> {
  const refusal = asRefusal(relay, error)
  const { status } = refusal.facts
  for (const [name, value] of Object.entries(refusal.headers)) context.header(name, value)
  return showPage(context, {
    title: 'That did not work',
    status: status === 413 ? 400 : status,
    body: html`<p class="note bad" role="alert">${refusal.message}</p><p><a href="/app">Go to the overview</a></p>`,
    visitor: await visitorOf(relay, context).catch(() => undefined),
  })
}
