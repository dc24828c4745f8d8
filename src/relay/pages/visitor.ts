/**
 * Who looks at a page, and whether what is sent came from one of ours.
 *
 * Holds: nothing changes but by a form that this relay showed to the same person.
 *
 * @module
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { type Context } from 'hono'
import { deleteCookie, getCookie, setCookie } from 'hono/cookie'
import { type Caller } from '../identity/caller.ts'
import { callerOf } from '../identity/credentials.ts'
import { secretKind } from '../identity/secrets.ts'
import { SESSION_SECS } from '../identity/sign-in.ts'
import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'

export interface Visitor {
  readonly caller: Caller
  /** In every form of theirs. */
  readonly csrf: string
}

function cookieName({ settings }: RelayContext): string {
  return settings.publicUrl.startsWith('https:') ? '__Host-relay' : 'relay'
}

export function keepSession(relay: RelayContext, context: Context, secret: string): void {
  setCookie(context, cookieName(relay), secret, {
    httpOnly: true,
    sameSite: 'Lax',
    path: '/',
    secure: relay.settings.publicUrl.startsWith('https:'),
    maxAge: SESSION_SECS,
  })
}

export function dropSession(relay: RelayContext, context: Context): void {
  deleteCookie(context, cookieName(relay), { path: '/', secure: relay.settings.publicUrl.startsWith('https:') })
}

/** Nobody where the browser has no session, or one that is over. */
export async function visitorOf(relay: RelayContext, context: Context): Promise<Visitor | undefined> {
  const secret = getCookie(context, cookieName(relay))
  if (secret === undefined || secretKind(secret) !== 'session') return undefined
  try {
    const caller = await callerOf(relay, secret)
    return { caller, csrf: createHash('sha256').update(`csrf ${secret}`).digest('base64url') }
  } catch (error) {
    if (error instanceof Refusal && error.code === 'unauthorized') return undefined
    throw error
  }
}

/** @throws {Refusal} `forbidden` for a form that was sent from elsewhere */
export function refuseForeign({ settings }: RelayContext, context: Context): void {
  const origin = context.req.header('origin')
  const site = context.req.header('sec-fetch-site')
  const isOurs = origin === undefined ? site === 'same-origin' : origin === settings.publicUrl
  if (!isOurs) {
    throw new Refusal('forbidden', `expected a form of this relay: open it at ${settings.publicUrl} and try again`)
  }
}

/** @throws {Refusal} `forbidden` for a form that was not shown to this person */
export function refuseForged({ csrf }: Visitor, form: URLSearchParams): void {
  const [wanted, given] = [Buffer.from(csrf), Buffer.from(form.get('csrf') ?? '')]
  if (wanted.length === given.length && timingSafeEqual(wanted, given)) return
  throw new Refusal('forbidden', 'this form is of another session: go back, load the page anew and try again')
}

/** A page of ours to go on to; nothing else is followed. */
export function localPath(text: string | undefined, otherwise = '/app'): string {
  if (text === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text)) return otherwise
  const url = URL.parse(text, 'http://relay.invalid')
  // What is left once "." and ".." are gone may begin anew with two slashes.
  const isLocal = url?.host === 'relay.invalid' && !url.pathname.startsWith('//')
  return isLocal ? url.pathname + url.search : otherwise
}
