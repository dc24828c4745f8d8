/**
 * Settings of channels.
 *
 * @module
 */
import { type EnvRow, parseChoice, parseInteger, parseListOf, parseSwitch, parseText } from '../core/env.ts'
import { KEY_BYTES, type Parsed, parseHexBytes, parseHolderId, parseNoiseKeyId } from '../core/ids.ts'
import { SecretKey } from '../core/keys.ts'
import { parseAddress } from './address.ts'

export const CHANNEL_ENV = {
  role: {
    name: 'CT_CHANNEL_ROLE',
    about: 'Side of a direct channel: initiate dials CT_CHANNEL_ADDR, accept listens there',
    expects: 'initiate|accept',
    parse: parseChoice({
      initiate: 'initiate',
      initiator: 'initiate',
      accept: 'accept',
      responder: 'accept',
      listen: 'accept',
    }),
  },
  address: {
    name: 'CT_CHANNEL_ADDR',
    about: 'Address of a direct channel; port 0 lets the system choose',
    expects: 'host:port',
    parse: parseAddress,
  },
  noiseKey: {
    name: 'CT_CHANNEL_NOISE_KEY',
    about: 'This member’s X25519 private key of the Noise handshake',
    expects: '64 hex chars',
    parse: parseSecretKey,
    secret: true,
  },
  holderKey: {
    name: 'CT_CHANNEL_HOLDER_KEY',
    about: 'This member’s Ed25519 private key, its identity; made anew for each run of a direct channel without it',
    expects: '64 hex',
    parse: parseSecretKey,
    secret: true,
  },
  peerNoiseKeys: {
    name: 'CT_CHANNEL_PEER_NOISE_KEY',
    about: 'X25519 public keys of the peers to trust, separated by commas',
    expects: '64 hex chars',
    parse: parseListOf(parseNoiseKeyId),
  },
  peerHolders: {
    name: 'CT_CHANNEL_PEER_HOLDER',
    about: 'Ed25519 public keys of the peers to trust, separated by commas',
    expects: '64 hex',
    parse: parseListOf(parseHolderId),
    flag: 'allow',
  },
  peerCert: {
    name: 'CT_CHANNEL_PEER_CERT',
    about: 'Accepted for compatibility and not used: the Noise handshake authenticates the peer',
    expects: 'hex DER',
    parse: parseText,
  },
  listen: {
    name: 'CT_CHANNEL_LISTEN',
    about: 'Addresses that ct-agent serve listens at, separated by commas',
    expects: 'host:port',
    parse: parseListOf(parseAddress),
    fallback: '0.0.0.0:0',
    flag: 'listen',
  },
  advertise: {
    name: 'CT_CHANNEL_ADVERTISE',
    about: 'Addresses to put into the ticket instead of those found on this machine',
    expects: 'host:port',
    parse: parseListOf(parseAddress),
    flag: 'advertise',
  },
  serve: {
    name: 'CT_CHANNEL_SERVE',
    about: 'Serve MCP tools on the channel, session after session on the accepting side',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
  },
  serveOnce: {
    name: 'CT_CHANNEL_SERVE_ONCE',
    about: 'Serve one session, then exit',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
    flag: 'once',
  },
  concurrency: {
    name: 'CT_CHANNEL_SERVE_CONCURRENCY',
    about: 'Sessions served at once; the next one is told to come again',
    expects: 'a whole number',
    parse: parseInteger(1, 65_536),
    fallback: '8',
    flag: 'concurrency',
  },
  peerSessions: {
    name: 'CT_CHANNEL_PEER_SESSIONS',
    about: 'Of the sessions served at once, how many one peer may have; three quarters unless set',
    expects: 'a whole number',
    parse: parseInteger(1, 65_536),
    flag: 'peer-sessions',
  },
  idleSeconds: {
    name: 'CT_CHANNEL_IDLE_SECS',
    about: 'Seconds without a message after which the serving side ends a session; 0 never does',
    expects: 'whole seconds',
    parse: parseInteger(0, 86_400),
    fallback: '300',
    flag: 'idle',
  },
  messageBytes: {
    name: 'CT_CHANNEL_MAX_MESSAGE_BYTES',
    about: 'Largest message this side accepts',
    expects: 'a number of bytes',
    parse: parseInteger(65_536, 268_435_456),
    fallback: '8388608',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

function parseSecretKey(text: string): Parsed<SecretKey> {
  const bytes = parseHexBytes(text, KEY_BYTES)
  return 'problem' in bytes ? bytes : { value: new SecretKey(bytes.value) }
}
