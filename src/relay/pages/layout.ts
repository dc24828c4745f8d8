/**
 * What is around every page.
 *
 * Holds: nothing of a page comes from elsewhere, runs, or is shown inside another page; nothing is kept by browsers or
 * proxies; what others wrote is text and never markup.
 *
 * @module
 */
import { type Context } from 'hono'
import { html } from 'hono/html'
import { type Visitor } from './visitor.ts'

export type Markup = ReturnType<typeof html>

export interface Page {
  readonly title: string
  readonly body: Markup
  readonly visitor?: Visitor | undefined
  readonly status?: 200 | 400 | 401 | 403 | 404 | 409 | 429 | 500 | 503
  /** Origins or schemes, beside the relay itself, that a form of the page may lead to. */
  readonly leadsTo?: readonly string[]
}

const SECTIONS: readonly (readonly [string, string])[] = [
  ['/app', 'Overview'],
  ['/app/approvals', 'Approvals'],
  ['/app/agents', 'Agents'],
  ['/app/inbox', 'Invocations'],
  ['/app/api-keys', 'API keys'],
  ['/app/pair', 'Programs'],
  ['/app/audit', 'Audit'],
]

export async function showPage(context: Context, page: Page): Promise<Response> {
  guard(context, page.leadsTo ?? [])
  const { visitor, title, body } = page
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – ct-agent relay</title>
<link rel="stylesheet" href="/app/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<strong>ct-agent relay</strong>
${visitor === undefined ? '' : navigation(context, visitor)}
</header>
<main id="main">
<h1>${title}</h1>
${body}
</main>
</body>
</html>
`
  return context.html(await text, page.status ?? 200)
}

function navigation(context: Context, { csrf, caller }: Visitor): Markup {
  const links = SECTIONS.map(([path, name]) =>
    path === context.req.path
      ? html`<a href="${path}" aria-current="page">${name}</a>`
      : html`<a href="${path}">${name}</a>`,
  )
  return html`<nav aria-label="Sections">${links.map((link) => html`${link} `)}</nav>
<form method="post" action="/logout"><input type="hidden" name="csrf" value="${csrf}">
<button class="quiet">Sign out ${caller.email}</button></form>`
}

function guard(context: Context, leadsTo: readonly string[]): void {
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    `form-action ${["'self'", ...leadsTo].join(' ')}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ]
  context.header('content-security-policy', policy.join('; '))
  context.header('x-frame-options', 'DENY')
  context.header('x-content-type-options', 'nosniff')
  // Without a referrer, browsers would not say of which site a form is.
  context.header('referrer-policy', 'same-origin')
  context.header('cache-control', 'no-store')
  context.header('cross-origin-opener-policy', 'same-origin')
}

/** A time as people read it; programs have it too. */
export function shownTime(iso: string): Markup {
  return html`<time datetime="${iso}">${iso.slice(0, 16).replace('T', ' ')} UTC</time>`
}

export function table(heads: readonly string[], rows: readonly (readonly (string | Markup)[])[], none: string): Markup {
  if (rows.length === 0) return html`<p>${none}</p>`
  return html`<div class="scroll"><table><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody></table></div>`
}
