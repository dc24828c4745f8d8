/**
 * Where a broker is, as people write it: `host:port`, or a multiaddr; either may pin the broker with `/p2p/<id>`.
 *
 * Loads no network code, so that settings can be read and explained without it.
 *
 * @module
 */
import { isIPv4, isIPv6 } from 'node:net'
import { quote } from '../core/env.ts'
import { type Parsed } from '../core/ids.ts'
import { type Address, formatAddress, parseAddress } from './address.ts'

/** How bytes travel to the broker: plain TCP, WebSocket, or WebSocket over TLS. */
export type BrokerTransport = 'tcp' | 'ws' | 'wss'

export interface BrokerPlace extends Address {
  readonly transport: BrokerTransport
  /** Libp2p name of the broker; without it whoever answers is taken, who is not trusted either. */
  readonly peer?: string
  /** Another way to the broker, where the usual one is closed. */
  readonly isFrontDoor?: true
  /** In PEM: trusted there besides those that everybody trusts. */
  readonly certificates?: readonly string[]
}

/** Libp2p name of an Ed25519 key in base58. */
const PEER_NAME = /^12D3KooW[1-9A-HJ-NP-Za-km-z]{44}$/
const HOST_KINDS = ['ip4', 'ip6', 'dns', 'dns4', 'dns6']
const EXPECTED = 'expected host:port or a multiaddr such as /dns4/example.org/tcp/4435'

/** @param plain what a bare `host:port` speaks */
export function parseBroker(text: string, plain: BrokerTransport = 'tcp'): Parsed<BrokerPlace> {
  const trimmed = text.trim()
  const pin = /^(.*?)\/p2p\/([^/]*)\/?$/.exec(trimmed)
  const [, where = trimmed, peer] = pin ?? []
  if (peer !== undefined && !PEER_NAME.test(peer)) {
    return { problem: `expected a peer id of 52 characters that begins with 12D3KooW, found ${quote(peer)}` }
  }
  const place = where.startsWith('/') ? parseMultiaddr(where) : parsePlain(where, plain)
  if ('problem' in place) return place
  if (place.value.port === 0) return { problem: 'expected the port of a broker, found 0' }
  return { value: { ...place.value, ...(peer === undefined ? {} : { peer }) } }
}

/** The front door is for networks where only port 443 is open: a bare `host:port` there speaks WebSocket over TLS. */
export function parseFrontDoor(text: string): Parsed<BrokerPlace> {
  const parsed = parseBroker(text, 'wss')
  return 'problem' in parsed ? parsed : { value: { ...parsed.value, isFrontDoor: true } }
}

/** As a multiaddr, without the pin. */
export function brokerMultiaddr({ host, port, transport }: BrokerPlace): string {
  const kind = isIPv4(host) ? 'ip4' : isIPv6(host) ? 'ip6' : 'dns'
  return `/${kind}/${host}/tcp/${port}${SUFFIX[transport]}`
}

/** With the pin, as `parseBroker` reads it. */
export function brokerText(place: BrokerPlace): string {
  return `${brokerMultiaddr(place)}${place.peer === undefined ? '' : `/p2p/${place.peer}`}`
}

/** For people. */
export function formatBroker(place: BrokerPlace): string {
  const way = place.isFrontDoor === true ? 'front door' : place.transport
  return `${formatAddress(place)}${way === 'tcp' ? '' : ` (${way})`}`
}

function parsePlain(text: string, transport: BrokerTransport): Parsed<BrokerPlace> {
  const parsed = parseAddress(text)
  return 'problem' in parsed
    ? { problem: `${EXPECTED}, found ${quote(text)}` }
    : { value: { ...parsed.value, transport } }
}

function parseMultiaddr(text: string): Parsed<BrokerPlace> {
  const [, kind = '', host = '', tcp, port = '', ...rest] = text.replace(/\/$/, '').split('/')
  if (!HOST_KINDS.includes(kind) || tcp !== 'tcp') return { problem: `${EXPECTED}, found ${quote(text)}` }
  if (kind === 'ip4' ? !isIPv4(host) : kind === 'ip6' && !isIPv6(host)) {
    return { problem: `expected an address of the kind ${kind}, found ${quote(host)}` }
  }
  const transport = TRANSPORTS.get(rest.join('/'))
  if (transport === undefined) {
    return { problem: `expected nothing, /ws or /tls/ws after the port, found ${quote(`/${rest.join('/')}`)}` }
  }
  const address = parseAddress(isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`)
  return 'problem' in address ? address : { value: { ...address.value, transport } }
}

const SUFFIX: Readonly<Record<BrokerTransport, string>> = { tcp: '', ws: '/ws', wss: '/tls/ws' }
const TRANSPORTS: ReadonlyMap<string, BrokerTransport> = new Map([
  ['', 'tcp'],
  ['ws', 'ws'],
  ['tls/ws', 'wss'],
  ['wss', 'wss'],
])
