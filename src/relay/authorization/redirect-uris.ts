/**
 * Where a browser may be sent with a code.
 *
 * Holds: nothing but what a client registered, to the letter; of an address of this machine only the port is free.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8252#section-7
 * @module
 */
const MAX_URI_CHARS = 2_000
/** Schemes that run or show something by themselves. */
const DANGEROUS: ReadonlySet<string> = new Set([
  'about:',
  'blob:',
  'data:',
  'file:',
  'filesystem:',
  'ftp:',
  'javascript:',
  'mailto:',
  'tel:',
  'vbscript:',
  'view-source:',
  'ws:',
  'wss:',
])
/** No more, for hosts come into a policy of the page of consent. */
const HOST = /^(?:[a-z0-9._-]+|\[[0-9a-f:]+\])$/
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost'])

/** What is wrong with one that a client registers. */
export function problemOfRedirectUri(text: string): string | undefined {
  if (text.length > MAX_URI_CHARS) return `expected at most ${MAX_URI_CHARS} characters`
  const url = URL.parse(text)
  if (url === null) return 'expected a URL'
  if (url.hash !== '' || text.includes('#')) return 'expected no fragment'
  if (url.username !== '' || url.password !== '') return 'expected no user and password'
  if (DANGEROUS.has(url.protocol)) return `expected a scheme that leads back to a program, found ${url.protocol}`
  if (/^https?:$/.test(url.protocol) && !HOST.test(url.hostname)) return 'expected the name or address of a host'
  if (url.protocol === 'http:' && !LOOPBACK.has(url.hostname)) {
    return 'expected https, or http on this machine alone (127.0.0.1, [::1] or localhost)'
  }
  return undefined
}

export function matchesRedirectUri(registered: readonly string[], given: string): boolean {
  if (registered.includes(given)) return true
  const portless = withoutLoopbackPort(given)
  return portless !== undefined && registered.some((uri) => withoutLoopbackPort(uri) === portless)
}

/** Programs take whatever port is free. */
function withoutLoopbackPort(text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null || url.protocol !== 'http:' || !LOOPBACK.has(url.hostname)) return undefined
  url.port = ''
  return url.href
}
