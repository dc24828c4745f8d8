/**
 * Signing in, up and out, and where one is then.
 *
 * @module
 */
import { html } from 'hono/html'
import { signIn, signOutOf, signUp } from '../identity/sign-in.ts'
import { Refusal } from '../refusal.ts'
import { type Markup, showPage } from './layout.ts'
import { type PageRoute, type Visit } from './page-route.ts'
import { dropSession, keepSession, localPath } from './visitor.ts'

const MIN_PASSWORD_CHARS = 8

function fault(message: string | undefined): Markup {
  return message === undefined ? html`` : html`<p class="note bad" role="alert">${message}</p>`
}

function showLogin({ relay, context }: Visit, onward: string, message?: string): Promise<Response> {
  const signUpLink = relay.settings.signupEnabled
    ? html`<p>Nobody here yet? <a href="/signup?return=${encodeURIComponent(onward)}">Make an account</a></p>`
    : html`<p>Accounts are made by the operator of this relay: <code>ct-agent relay admin create-user</code></p>`
  return showPage(context, {
    title: 'Sign in',
    status: message === undefined ? 200 : 401,
    body: html`${fault(message)}<form method="post" action="/login">
<input type="hidden" name="return" value="${onward}">
<label for="email">E-mail address</label><input id="email" name="email" type="email" autocomplete="username" required autofocus>
<label for="password">Password</label><input id="password" name="password" type="password" autocomplete="current-password" required>
<div class="actions"><button class="main">Sign in</button></div></form>${signUpLink}`,
  })
}

function showSignup({ context }: Visit, onward: string, message?: string): Promise<Response> {
  return showPage(context, {
    title: 'Make an account',
    status: message === undefined ? 200 : 400,
    body: html`${fault(message)}<form method="post" action="/signup">
<input type="hidden" name="return" value="${onward}">
<label for="name">Your name, as others see it</label><input id="name" name="name" type="text" autocomplete="name" maxlength="200" required autofocus>
<label for="email">E-mail address</label><input id="email" name="email" type="email" autocomplete="username" required>
<label for="password">Password, at least ${MIN_PASSWORD_CHARS} characters</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="${MIN_PASSWORD_CHARS}" required>
<div class="actions"><button class="main">Make an account</button></div></form>`,
  })
}

/** What a person can mend is said on the form; what else goes wrong, elsewhere. */
function mendable(error: unknown): string {
  if (error instanceof Refusal && error.facts.status < 500 && error.code !== 'signup_disabled') return error.message
  throw error
}

export const ACCOUNT_PAGES: readonly PageRoute[] = [
  {
    method: 'GET',
    path: '/login',
    isOpen: true,
    show: (visit) => {
      const onward = localPath(visit.context.req.query('return'))
      return visit.visitor === undefined ? showLogin(visit, onward) : visit.context.redirect(onward, 303)
    },
  },
  {
    method: 'POST',
    path: '/login',
    isOpen: true,
    show: async (visit) => {
      const { relay, context, form } = visit
      const onward = localPath(form.get('return') ?? undefined)
      try {
        keepSession(relay, context, await signIn(relay, form.get('email') ?? '', form.get('password') ?? ''))
      } catch (error) {
        if (error instanceof Refusal && error.code === 'signin_rate_limited') throw error
        return showLogin(visit, onward, mendable(error))
      }
      return context.redirect(onward, 303)
    },
  },
  {
    method: 'GET',
    path: '/signup',
    isOpen: true,
    show: (visit) => {
      if (!visit.relay.settings.signupEnabled)
        throw new Refusal('not_found', 'this relay takes no new people by itself')
      return showSignup(visit, localPath(visit.context.req.query('return')))
    },
  },
  {
    method: 'POST',
    path: '/signup',
    isOpen: true,
    show: async (visit) => {
      const { relay, context, form } = visit
      const onward = localPath(form.get('return') ?? undefined)
      const [email, displayName] = [form.get('email') ?? '', (form.get('name') ?? '').trim()]
      try {
        if (!/^[^\s@]{1,64}@[^\s@]{1,189}$/.test(email))
          throw new Refusal('invalid_request', 'expected an e-mail address')
        if (displayName === '' || displayName.length > 200) throw new Refusal('invalid_request', 'expected a name')
        keepSession(relay, context, await signUp(relay, { email, displayName, password: form.get('password') ?? '' }))
      } catch (error) {
        return showSignup(visit, onward, mendable(error))
      }
      return context.redirect(onward, 303)
    },
  },
  {
    method: 'POST',
    path: '/logout',
    isOpen: true,
    show: async ({ relay, context, visitor }) => {
      if (visitor !== undefined) await signOutOf(relay, visitor.caller.credentialId)
      dropSession(relay, context)
      return context.redirect('/login', 303)
    },
  },
  {
    method: 'GET',
    path: '/app',
    show: ({ relay, context, visitor }) => {
      const url = relay.settings.publicUrl
      const config = JSON.stringify({ mcpServers: { relay: { url: `${url}/mcp` } } }, null, 2)
      return showPage(context, {
        title: 'Overview',
        visitor,
        body: html`<p>You are ${visitor.caller.displayName} (${visitor.caller.email}).</p>
<h2>Connect a program</h2>
<p>Claude Code:</p><pre>claude mcp add --transport http relay ${url}/mcp</pre>
<p>Cursor, or any other that reads <code>mcp.json</code>:</p><pre>${config}</pre>
<p>It sends you here to sign in. Scripts use an <a href="/app/api-keys">API key</a>; the API is described at <a href="/openapi.json">/openapi.json</a>.</p>`,
      })
    },
  },
]
