/**
 * Settings of a broker.
 *
 * @module
 */
import { type EnvRow, parseInteger, parseListOf, parseText, quote } from '../../core/env.ts'
import { type Parsed, parseHolderId } from '../../core/ids.ts'
import { parseAddress } from '../address.ts'

/** Timers of the runtime cannot be set further ahead. */
const MAX_RELAY_SECONDS = 2_000_000

export const BROKER_ENV = {
  listen: {
    name: 'CT_BROKER_LISTEN',
    about: 'Addresses that the broker listens at for members, separated by commas; port 0 lets the system choose',
    expects: 'host:port',
    parse: parseListOf(parseAddress),
    fallback: '0.0.0.0:4435',
    flag: 'listen',
  },
  wsListen: {
    name: 'CT_BROKER_WS_LISTEN',
    about: 'Addresses for members that only get out as WebSockets, such as 0.0.0.0:443, separated by commas',
    expects: 'host:port',
    parse: parseListOf(parseAddress),
    flag: 'ws-listen',
  },
  advertise: {
    name: 'CT_BROKER_ADVERTISE',
    about: 'Addresses to tell members instead of those found on this machine: host:port, or /dns/name/tcp/443/tls/ws',
    expects: 'host:port or a multiaddr',
    parse: parseListOf(parseAdvertised),
    flag: 'advertise',
  },
  tlsCert: {
    name: 'CT_BROKER_TLS_CERT',
    about: 'PEM file with the certificate chain of the WebSocket addresses; without it they speak plain HTTP',
    expects: 'a path',
    parse: parseText,
    flag: 'tls-cert',
  },
  tlsKey: {
    name: 'CT_BROKER_TLS_KEY',
    about: 'PEM file with the private key of that certificate',
    expects: 'a path',
    parse: parseText,
    flag: 'tls-key',
  },
  operators: {
    name: 'CT_BROKER_OPERATORS',
    about: 'Ed25519 public keys of the only operators whose members are admitted, separated by commas; any unless set',
    expects: '64 hex',
    parse: parseListOf(parseHolderId),
    flag: 'operators',
  },
  httpListen: {
    name: 'CT_BROKER_HTTP_LISTEN',
    about: 'Address for /healthz and /metrics, such as 127.0.0.1:9435; none unless set',
    expects: 'host:port',
    parse: parseAddress,
    flag: 'http-listen',
  },
  maxConnections: {
    name: 'CT_BROKER_MAX_CONNECTIONS',
    about: 'Connections at once',
    expects: 'a whole number',
    parse: parseInteger(16, 1_000_000),
    fallback: '8192',
    flag: 'max-connections',
  },
  maxReservations: {
    name: 'CT_BROKER_MAX_RESERVATIONS',
    about: 'Accepting members at once that can be reached through the relay',
    expects: 'a whole number',
    parse: parseInteger(1, 1_000_000),
    fallback: '4096',
    flag: 'max-reservations',
  },
  maxPeerRelayed: {
    name: 'CT_BROKER_MAX_PEER_RELAYED',
    about: 'Relayed connections of one member at once',
    expects: 'a whole number',
    parse: parseInteger(1, 65_536),
    fallback: '1024',
    flag: 'max-peer-relayed',
  },
  relayBytes: {
    name: 'CT_BROKER_RELAY_BYTES',
    about: 'Bytes of one relayed connection, both ways, after which it ends',
    expects: 'a number of bytes',
    parse: parseInteger(65_536, Number.MAX_SAFE_INTEGER),
    fallback: '68719476736',
    flag: 'relay-bytes',
  },
  relaySeconds: {
    name: 'CT_BROKER_RELAY_SECS',
    about: 'Seconds after which a relayed connection ends',
    expects: 'whole seconds',
    parse: parseInteger(10, MAX_RELAY_SECONDS),
    fallback: '604800',
    flag: 'relay-secs',
  },
  cards: {
    name: 'CT_BROKER_CARDS',
    about: 'Agent cards that the broker keeps for others to find; 0 for no registry',
    expects: 'a whole number',
    parse: parseInteger(0, 65_536),
    fallback: '4096',
    flag: 'cards',
  },
  cardsPerAddress: {
    name: 'CT_BROKER_CARDS_PER_ADDRESS',
    about: 'Of these, how many may have been published from one address',
    expects: 'a whole number',
    parse: parseInteger(1, 65_536),
    fallback: '256',
    flag: 'cards-per-address',
  },
  operatorRooms: {
    name: 'CT_BROKER_OPERATOR_ROOMS',
    about: 'Channels of one operator with members present',
    expects: 'a whole number',
    parse: parseInteger(1, 1_000_000),
    fallback: '1024',
    flag: 'operator-rooms',
  },
  operatorSeats: {
    name: 'CT_BROKER_OPERATOR_SEATS',
    about: 'Members of one operator present at once, counted once for each channel and side',
    expects: 'a whole number',
    parse: parseInteger(1, 1_000_000),
    fallback: '4096',
    flag: 'operator-seats',
  },
  operatorBytes: {
    name: 'CT_BROKER_OPERATOR_BYTES',
    about: 'Bytes relayed for one operator in 24 hours, after which no further connection of its members is relayed',
    expects: 'a number of bytes',
    parse: parseInteger(65_536, Number.MAX_SAFE_INTEGER),
    fallback: '1099511627776',
    flag: 'operator-bytes',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

/** As a multiaddr without the broker's identity. */
function parseAdvertised(text: string): Parsed<string> {
  if (text.startsWith('/')) return MULTIADDR.test(text) ? { value: text } : { problem: `found ${quote(text)}` }
  const parsed = parseAddress(text)
  if ('problem' in parsed) return parsed
  const { host, port } = parsed.value
  if (port === 0) return { problem: `expected a port that members can dial, found ${quote(text)}` }
  const kind = host.includes(':') ? 'ip6' : /^[\d.]+$/.test(host) ? 'ip4' : 'dns'
  return { value: `/${kind}/${host}/tcp/${port}` }
}

const MULTIADDR = /^\/(ip4|ip6|dns|dns4|dns6)\/[^/\s,]+\/tcp\/[1-9]\d{0,4}(\/ws|\/wss|\/tls\/ws)?$/
