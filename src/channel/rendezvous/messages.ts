/**
 * What a member and a broker say to each other, on a libp2p stream of its own.
 *
 * Each message is `u32 length (big endian) ‖ CBOR map` with the kind in `t`; unknown keys are ignored and unknown kinds
 * skipped, so either side may grow. Holds: no message is larger than {@link MAX_RENDEZVOUS_BYTES}.
 *
 * Nothing a broker says is trusted beyond being worth a try: members check each other's credentials themselves.
 *
 * @module
 */
import { encode } from 'cborg'
import { toHex } from '../../core/bytes.ts'
import { CtError, type ErrorCode, isPeerErrorCode } from '../../core/errors.ts'
import { type ChannelId, type HolderId, KEY_BYTES, SIGNATURE_BYTES, type Signature } from '../../core/ids.ts'
import { printable } from '../../core/printable.ts'
import { type Address, formatAddress, parseAddress } from '../address.ts'
import { type Credentials, MAX_GRANTS } from '../membership/credentials.ts'
import { decodeGrant, encodeGrant } from '../membership/grant.ts'
import { decodeStrictly, isCount, retryAfter } from '../strict-cbor.ts'

export const RENDEZVOUS_PROTOCOL = '/ct-agent/rendezvous/1'
const VERSION = 1
export const MAX_RENDEZVOUS_BYTES = 8_192
/** More addresses than one machine has uses for. */
export const MAX_ADDRESSES = 8
const MAX_REASON_CHARS = 300

/** The first message of a member. */
export interface Join {
  readonly kind: 'join'
  readonly operator: HolderId
  readonly channel: ChannelId
  readonly side: 'initiate' | 'accept'
  readonly credentials: Credentials
  /** Where the member may be dialled directly; of an initiator, for a peer that tries to dial back. */
  readonly addresses: readonly Address[]
  /** Of an initiator: the only acceptor that it wants. */
  readonly wants?: HolderId
}

/** Of an acceptor, whenever it changes: how many of its places are taken. */
export interface Load {
  readonly kind: 'load'
  readonly taken: number
  readonly places: number
}

/** A sign of life; the other side answers with its own. */
export interface Alive {
  readonly kind: 'alive'
}

export type FromMember = Join | Load | Alive

/** The join is accepted. An acceptor stays, an initiator waits for its peer. */
export interface Joined {
  readonly kind: 'joined'
  /** Where the broker sees the member. */
  readonly observed: Address
  /** Seconds after which a waiting initiator is let go with `expired`; 0 for an acceptor. */
  readonly waitSeconds: number
}

/** Somebody to meet: for an initiator the acceptor to dial, for an acceptor the initiator that will. */
export interface Peer {
  readonly kind: 'peer'
  readonly holder: HolderId
  /** Those the peer named that the broker has seen it at, and where the broker sees it. */
  readonly addresses: readonly Address[]
}

/** Nobody came in time. Joining again at once is welcome. */
export interface Expired {
  readonly kind: 'expired'
}

/** Something worth telling a person who waits, such as that the operator's other members wait elsewhere. */
export interface Hint {
  readonly kind: 'hint'
  readonly text: string
}

/** The broker's last message. */
export interface Refused {
  readonly kind: 'refused'
  readonly code: ErrorCode
  /** As the original program names it, such as `grant-verify`. */
  readonly category: string
  readonly reason: string
  readonly retryAfterMs?: number
}

export type FromBroker = Joined | Peer | Expired | Hint | Refused | Alive

export function encodeFromMember(message: FromMember): Uint8Array {
  switch (message.kind) {
    case 'join': {
      const { operator, channel, side, credentials, addresses, wants } = message
      return encode({
        t: 'join',
        v: VERSION,
        op: bytesOf(operator),
        ch: bytesOf(channel),
        side,
        grants: credentials.grants.map(encodeGrant),
        att: bytesOf(credentials.attestation),
        addrs: addresses.map(formatAddress),
        ...(wants === undefined ? {} : { wants: bytesOf(wants) }),
      })
    }
    case 'load':
      return encode({ t: 'load', taken: message.taken, places: message.places })
    case 'alive':
      return ALIVE
  }
}

export function encodeFromBroker(message: FromBroker): Uint8Array {
  switch (message.kind) {
    case 'joined':
      return encode({ t: 'joined', seen: formatAddress(message.observed), wait: message.waitSeconds })
    case 'peer':
      return encode({ t: 'peer', holder: bytesOf(message.holder), addrs: message.addresses.map(formatAddress) })
    case 'expired':
      return encode({ t: 'expired' })
    case 'hint':
      return encode({ t: 'hint', text: message.text })
    case 'refused': {
      const { code, category, reason, retryAfterMs } = message
      const retry = retryAfterMs === undefined ? {} : { retry: retryAfterMs }
      return encode({ t: 'refused', code, category, reason: printable(reason, MAX_REASON_CHARS), ...retry })
    }
    case 'alive':
      return ALIVE
  }
}

/** `undefined` for a kind that is not known. @throws {CtError} `ERR_PROTOCOL`, `ERR_VERSION_UNSUPPORTED`, `ERR_ARTEFACT_INVALID` for a grant */
export function parseFromMember(payload: Uint8Array): FromMember | undefined {
  const map = readMap(payload)
  switch (map.get('t')) {
    case 'join':
      return parseJoin(map)
    case 'load':
      return { kind: 'load', taken: count(map, 'taken'), places: count(map, 'places') }
    case 'alive':
      return { kind: 'alive' }
    default:
      return undefined
  }
}

/** `undefined` for a kind that is not known. @throws {CtError} `ERR_PROTOCOL` */
export function parseFromBroker(payload: Uint8Array): FromBroker | undefined {
  const map = readMap(payload)
  switch (map.get('t')) {
    case 'joined':
      return { kind: 'joined', observed: addressIn(map.get('seen')), waitSeconds: count(map, 'wait') }
    case 'peer':
      return { kind: 'peer', holder: idIn<HolderId>(map, 'holder'), addresses: addressesIn(map) }
    case 'expired':
      return { kind: 'expired' }
    case 'hint':
      return { kind: 'hint', text: words(map, 'text') }
    case 'refused':
      return parseRefused(map)
    case 'alive':
      return { kind: 'alive' }
    default:
      return undefined
  }
}

type Fields = ReadonlyMap<unknown, unknown>

function parseJoin(map: Fields): Join {
  const version = map.get('v')
  if (version !== VERSION) {
    throw new CtError('ERR_VERSION_UNSUPPORTED', `expected rendezvous version ${VERSION}, found ${String(version)}`)
  }
  const side = map.get('side')
  if (side !== 'initiate' && side !== 'accept') throw malformed('expected the side initiate or accept')
  const grants = map.get('grants')
  if (!Array.isArray(grants) || grants.length > MAX_GRANTS) throw malformed(`expected at most ${MAX_GRANTS} grants`)
  return {
    kind: 'join',
    operator: idIn<HolderId>(map, 'op'),
    channel: idIn<ChannelId>(map, 'ch'),
    side,
    credentials: {
      grants: grants.map((grant: unknown) => decodeGrant(grant instanceof Uint8Array ? grant : NO_BYTES)),
      attestation: hexIn<Signature>(map, 'att', SIGNATURE_BYTES),
    },
    addresses: addressesIn(map),
    ...(map.has('wants') ? { wants: idIn<HolderId>(map, 'wants') } : {}),
  }
}

function parseRefused(map: Fields): Refused {
  const code = map.get('code')
  return {
    kind: 'refused',
    code: isPeerErrorCode(code) ? code : 'ERR_PEER_REFUSED',
    category: words(map, 'category'),
    reason: words(map, 'reason'),
    ...retryAfter(map.get('retry')),
  }
}

function readMap(payload: Uint8Array): Fields {
  let value: unknown
  try {
    value = decodeStrictly(payload)
  } catch (error) {
    throw new CtError('ERR_PROTOCOL', 'expected a rendezvous message in CBOR', { cause: error })
  }
  if (!(value instanceof Map)) throw malformed('expected a map')
  return value
}

function addressesIn(map: Fields): readonly Address[] {
  const list = map.get('addrs')
  if (!Array.isArray(list) || list.length > MAX_ADDRESSES)
    throw malformed(`expected at most ${MAX_ADDRESSES} addresses`)
  return list.map(addressIn)
}

function addressIn(value: unknown): Address {
  const parsed = typeof value === 'string' ? parseAddress(value) : { problem: 'expected an address' }
  if ('problem' in parsed) throw malformed(parsed.problem)
  return parsed.value
}

function idIn<Id extends string>(map: Fields, key: string): Id {
  return hexIn<Id>(map, key, KEY_BYTES)
}

function hexIn<Id extends string>(map: Fields, key: string, length: number): Id {
  const value = map.get(key)
  if (value instanceof Uint8Array && value.length === length) return toHex(value) as Id
  throw malformed(`expected ${length} bytes in ${key}`)
}

function words(map: Fields, key: string): string {
  const value = map.get(key)
  return typeof value === 'string' ? printable(value, MAX_REASON_CHARS) : ''
}

function count(map: Fields, key: string): number {
  const value = map.get(key)
  if (isCount(value)) return value
  throw malformed(`expected a whole number in ${key}`)
}

function bytesOf(hex: string): Uint8Array {
  return Buffer.from(hex, 'hex')
}

function malformed(problem: string): CtError {
  return new CtError('ERR_PROTOCOL', `malformed rendezvous message: ${problem}`)
}

const ALIVE = encode({ t: 'alive' })
const NO_BYTES = new Uint8Array(0)
