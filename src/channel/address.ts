/**
 * `host:port` as people write it.
 *
 * @module
 */
import { isIP, isIPv6 } from 'node:net'
import { quote } from '../core/env.ts'
import { type Parsed } from '../core/ids.ts'

export interface Address {
  /** IPv4 or IPv6 literal without brackets, or a DNS name. */
  readonly host: string
  readonly port: number
}

const MAX_PORT = 65_535
const DNS_NAME = /^(?=.{1,253}$)[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*\.?$/
/** Meant as an address: a resolver would fail later and less clearly, or read `0x7f.1` as 127.0.0.1. */
const MEANT_AS_NUMBER = /(^|\.)(\d+|0x[\da-f]*)\.?$/i

/** `203.0.113.5:4433`, `[2001:db8::1]:4433` or `agent.example.org:4433`; port 0 is allowed. */
export function parseAddress(text: string): Parsed<Address> {
  const trimmed = text.trim()
  const match = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(trimmed)
  if (match === null) return { problem: `expected host:port, with an IPv6 address in brackets, found ${quote(text)}` }
  const [, bracketed, plain = '', digits = ''] = match
  const port = Number(digits)
  if (port > MAX_PORT) return { problem: `expected a port up to ${MAX_PORT}, found ${digits}` }
  if (bracketed !== undefined) {
    if (!isIPv6(bracketed) || bracketed.includes('%'))
      return { problem: `expected an IPv6 address without a zone in brackets, found ${quote(bracketed)}` }
    return { value: { host: bracketed, port } }
  }
  const known = isIP(plain) === 4 || (DNS_NAME.test(plain) && !MEANT_AS_NUMBER.test(plain))
  return known
    ? { value: { host: plain, port } }
    : { problem: `expected an IP address or a DNS name, found ${quote(plain)}` }
}

export function formatAddress({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
