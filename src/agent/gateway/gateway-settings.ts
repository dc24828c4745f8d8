/**
 * Settings of the gateway.
 *
 * @module
 */
import { isIP } from 'node:net'
import { CHANNEL_ENV } from '../../channel/config.ts'
import { type EnvRow, parseListOf, parseText, quote } from '../../core/env.ts'
import { type Parsed } from '../../core/ids.ts'

const { parse: parseAddress } = CHANNEL_ENV.address

/** So many characters cannot be guessed, if somebody chose them well. */
export const MIN_TOKEN_CHARS = 16
const MAX_TOKEN_CHARS = 4_096

export const GATEWAY_ENV = {
  address: {
    name: 'CT_GATEWAY_ADDR',
    about: 'Address that ct-agent gateway listens at; port 0 lets the system choose. Any but loopback needs a token',
    expects: 'host:port',
    parse: parseAddress,
    fallback: '127.0.0.1:4436',
    flag: 'addr',
  },
  token: {
    name: 'CT_GATEWAY_TOKEN',
    about: 'Secret that hosts send to the gateway as Authorization: Bearer …; nobody needs one unless set',
    expects: `at least ${MIN_TOKEN_CHARS} characters without blanks`,
    parse: parseToken,
    secret: true,
  },
  tokenFile: {
    name: 'CT_GATEWAY_TOKEN_FILE',
    about: 'File with such secrets, one a line: each is somebody of its own, whose sessions no other can use',
    expects: 'a path',
    parse: parseText,
    flag: 'token-file',
  },
  origins: {
    name: 'CT_GATEWAY_ORIGINS',
    about: 'Origins of web pages that may use the gateway, separated by commas; none unless set',
    expects: 'scheme://host:port',
    parse: parseListOf(parseOrigin),
    flag: 'origins',
  },
  hosts: {
    name: 'CT_GATEWAY_HOSTS',
    about: 'Names that the gateway is asked by, beside localhost and its address, such as that of a proxy before it',
    expects: 'a host name',
    parse: parseListOf(parseHost),
    flag: 'hosts',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

/** What a header can carry, and a person can copy. */
export function parseToken(text: string): Parsed<string> {
  const token = text.trim()
  if (token.length < MIN_TOKEN_CHARS || token.length > MAX_TOKEN_CHARS) {
    return { problem: `expected ${MIN_TOKEN_CHARS} to ${MAX_TOKEN_CHARS} characters, found ${token.length}` }
  }
  return /^[\x21-\x7e]+$/.test(token) ? { value: token } : { problem: 'expected visible ASCII characters alone' }
}

function parseOrigin(text: string): Parsed<string> {
  const origin = text.toLowerCase()
  return /^[a-z][a-z0-9+.-]*:\/\/[^/\\\s?#@*]+$/.test(origin)
    ? { value: origin }
    : { problem: `expected an origin such as https://app.example.org, found ${quote(text)}` }
}

function parseHost(text: string): Parsed<string> {
  const parsed = parseAddress(`${isIP(text) === 6 ? `[${text}]` : text}:0`)
  return 'problem' in parsed
    ? { problem: `expected a name or an address without a port, found ${quote(text)}` }
    : { value: parsed.value.host.toLowerCase().replace(/\.$/, '') }
}

/** Nobody else reaches it. */
export function isLoopback({ host }: { readonly host: string }): boolean {
  return host === '::1' || host.toLowerCase() === 'localhost' || (isIP(host) === 4 && host.startsWith('127.'))
}
