/**
 * Settings of channels.
 *
 * @module
 */
import { type EnvRow, parseChoice, parseInteger, parseListOf, parseSwitch, parseText } from '../core/env.ts'
import { KEY_BYTES, type Parsed, parseChannelId, parseHexBytes, parseHolderId, parseNoiseKeyId } from '../core/ids.ts'
import { SecretKey } from '../core/keys.ts'
import { parseU64 } from '../core/u64.ts'
import { parseAddress } from './address.ts'

export const CHANNEL_ENV = {
  role: {
    name: 'CT_CHANNEL_ROLE',
    about: 'Side of a channel: accept waits for callers, at CT_CHANNEL_ADDR or at a broker; initiate goes to them',
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
    about: 'Addresses that ct-agent serve, or an acceptor with a broker, listens at, separated by commas',
    expects: 'host:port',
    parse: parseListOf(parseAddress),
    fallback: '0.0.0.0:0',
    flag: 'listen',
  },
  advertise: {
    name: 'CT_CHANNEL_ADVERTISE',
    about: 'Addresses to put into the ticket, or to tell the broker, instead of those found on this machine',
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

/** What members compute for their operator, and what it takes. */
export const MEMBER_ENV = {
  operator: {
    name: 'CT_CHANNEL_OPERATOR_PUBKEY',
    about: 'Ed25519 public key of the channel’s operator',
    expects: '64 hex',
    parse: parseHolderId,
    flag: 'operator',
  },
  bridgeHolder: {
    name: 'CT_CHANNEL_BRIDGE_HOLDER',
    about: 'Ed25519 public key of the other member of a link',
    expects: '64 hex',
    parse: parseHolderId,
    flag: 'bridge-holder',
  },
  pipeline: {
    name: 'CT_PIPELINE_ID',
    about: 'Name of a pipeline, every blank in it counted; may be empty',
    expects: 'a text',
    parse: parseUnicode,
    flag: 'pipeline',
    keepBlank: true,
  },
  role: {
    name: 'CT_PIPELINE_ROLE',
    about: 'Role in the pipeline, every blank in it counted; may be empty',
    expects: 'a text',
    parse: parseUnicode,
    flag: 'role',
    keepBlank: true,
  },
  noisePublicKey: {
    name: 'CT_CHANNEL_NOISE_PUBKEY',
    about: 'This member’s X25519 public key of the Noise handshake',
    expects: '64 hex',
    parse: parseNoiseKeyId,
    flag: 'noise-pubkey',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

/** What an operator signs for a member. */
export const GRANT_ENV = {
  operatorKey: {
    name: 'CT_CHANNEL_OPERATOR_KEY',
    about: 'Ed25519 private key of the channel’s operator, which signs grants and invitations',
    expects: '64 hex',
    parse: parseSecretKey,
    secret: true,
  },
  channel: {
    name: 'CT_GRANT_CHANNEL',
    about: 'Channel that a grant is for',
    expects: '64 hex',
    parse: parseChannelId,
    flag: 'channel',
  },
  member: {
    name: 'CT_GRANT_MEMBER_HOLDER',
    about: 'Ed25519 public key of the member that a grant is for',
    expects: '64 hex',
    parse: parseHolderId,
    flag: 'member',
  },
  direction: {
    name: 'CT_GRANT_DIRECTION',
    about: 'Side of a session that a grant allows',
    expects: 'initiate|accept',
    parse: parseChoice({ initiate: 'initiate', initiator: 'initiate', accept: 'accept', responder: 'accept' }),
    flag: 'direction',
  },
  expires: {
    name: 'CT_GRANT_EXPIRES',
    about: 'First second in which a grant no longer holds',
    expects: 'unix seconds',
    parse: parseU64,
    flag: 'expires',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

/** What an operator signs for somebody who is no member yet. */
export const INVITE_ENV = {
  channel: {
    name: 'CT_INVITE_CHANNEL',
    about: 'Channel that an invitation is for',
    expects: '64 hex',
    parse: parseChannelId,
    flag: 'channel',
  },
  identity: {
    name: 'CT_INVITE_IDENTITY',
    about: 'Ed25519 public key of the identity that is invited',
    expects: '64 hex',
    parse: parseHolderId,
    flag: 'identity',
  },
  direction: {
    name: 'CT_INVITE_DIRECTION',
    about: 'Side of a session that an invitation allows',
    expects: 'initiate|accept|both',
    parse: parseChoice({
      initiate: 'initiate',
      initiator: 'initiate',
      accept: 'accept',
      responder: 'accept',
      both: 'both',
    }),
    flag: 'direction',
  },
  rights: {
    name: 'CT_INVITE_RIGHTS',
    about: 'What an invitation allows on the channel',
    expects: 'read|write|readwrite',
    parse: parseChoice({
      read: 'r',
      r: 'r',
      write: 'w',
      w: 'w',
      readwrite: 'rw',
      'read-write': 'rw',
      rw: 'rw',
    }),
    fallback: 'readwrite',
    flag: 'rights',
  },
  delegable: {
    name: 'CT_INVITE_DELEGABLE',
    about: 'Let the invited pass the invitation on',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
    flag: 'delegable',
  },
  expires: {
    name: 'CT_INVITE_EXPIRES',
    about: 'First second in which an invitation no longer holds',
    expects: 'unix seconds',
    parse: parseU64,
    flag: 'expires',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

export function parseSecretKey(text: string): Parsed<SecretKey> {
  const bytes = parseHexBytes(text, KEY_BYTES)
  return 'problem' in bytes ? bytes : { value: new SecretKey(bytes.value) }
}

/** Text as it stands; half a surrogate pair could not be signed. */
function parseUnicode(text: string): Parsed<string> {
  return text.isWellFormed() ? { value: text } : { problem: 'expected valid Unicode, found half a surrogate pair' }
}
