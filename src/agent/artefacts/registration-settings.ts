/**
 * Settings of the registry of agents at a control plane.
 *
 * @module
 */
import { type EnvRow, quote } from '../../core/env.ts'
import { type Parsed } from '../../core/ids.ts'

export const REGISTRATION_ENV = {
  controlPlane: {
    name: 'CT_AGENT_CP_URL',
    about: 'Address of the control plane, where an agent card is registered',
    expects: 'an https:// address',
    parse: parseControlPlane,
  },
  adminToken: {
    name: 'CT_CP_EDGE_ADMIN_TOKEN',
    about: 'Token with which the control plane lets agents be registered',
    expects: 'a token',
    parse: parseToken,
    secret: true,
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

/** A token goes there, so it must be encrypted, or not leave this machine. */
function parseControlPlane(text: string): Parsed<string> {
  const url = URL.parse(text.trim())
  if (url === null) return { problem: `found ${quote(text)}` }
  if (url.username !== '' || url.password !== '') return { problem: 'expected no user name in it, found one' }
  if (url.search !== '' || url.hash !== '') return { problem: `expected no ? or # in it, found ${quote(text)}` }
  const isLocal = url.protocol === 'http:' && LOOPBACK.test(url.hostname)
  if (url.protocol !== 'https:' && !isLocal) return { problem: `found ${quote(text)}` }
  return { value: url.href.replace(/\/+$/, '') }
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/

/** What may stand in a header. */
function parseToken(text: string): Parsed<string> {
  const token = text.trim()
  if (/^[\x21-\x7e]+$/.test(token)) return { value: token }
  return { problem: 'expected ASCII letters, digits and signs, found something else' }
}
