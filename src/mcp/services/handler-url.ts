/**
 * The address of a handler that is spoken to over HTTP.
 *
 * @module
 */
import { quote } from '../../core/env.ts'
import { type Parsed } from '../../core/ids.ts'

/** The address holds no password: it is shown. */
export function parseHandlerUrl(text: string): Parsed<URL> {
  const url = URL.parse(text.trim())
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return { problem: `expected http://… or https://…, found ${quote(text)}` }
  }
  if (url.username !== '' || url.password !== '') return { problem: 'expected no user and no password in it' }
  return { value: url }
}

/** True for an address that cannot be another machine's. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname)
}
