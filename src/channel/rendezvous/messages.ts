/**
 * What a member and a broker say to each other, on a libp2p stream of its own.
 *
 * Each message is `u32 length (big endian) ‖ CBOR map` with the kind in `t`; unknown keys are ignored and unknown kinds
 * skipped, so either side may grow. Holds: no message is larger than {@link MAX_RENDEZVOUS_BYTES}, or for whom the
 * broker has let in, {@link MAX_LIST_MESSAGE_BYTES}.
 *
 * Nothing a broker says is trusted beyond being worth a try: members check each other's credentials themselves.
 *
 * @module
 */
import { encode } from 'cborg'
import { type Sealed } from '../../core/artefact.ts'
import { CtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId, SIGNATURE_BYTES, type Signature } from '../../core/ids.ts'
import { type U64 } from '../../core/u64.ts'
import { type Address, formatAddress } from '../address.ts'
import { type Credentials, MAX_GRANTS } from '../membership/credentials.ts'
import { decodeGrant, encodeGrant } from '../membership/grant.ts'
import { decodeRevocations, encodeRevocations, type RevocationList } from '../membership/revocations.ts'
import { type SignedSuccession } from '../membership/succession.ts'
import {
  addressesIn,
  addressIn,
  bigCount,
  bytesIn,
  bytesOf,
  count,
  type Fields,
  hexIn,
  idIn,
  malformed,
  readMap,
  successionField,
  successionsIn,
  words,
} from './fields.ts'
import { encodeRefused, parseRefused, type Refused } from './refused.ts'

export const RENDEZVOUS_PROTOCOL = '/ct-agent/rendezvous/1'
const VERSION = 1
/** Of whoever has not joined. */
export const MAX_RENDEZVOUS_BYTES = 8_192
/** Of whoever may send a revocation list, and of a broker: the longest list, and a little around it. */
export const MAX_LIST_MESSAGE_BYTES = 18_432

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
  /** Of an initiator that wants nobody: it has a session, and stays to hear of removals. */
  readonly watches?: true
  /** Sequence of the newest revocation list that it has; none unless said. */
  readonly knows?: U64
  /** Of the operator's key: for a broker that is to let in whom a newer one granted. */
  readonly successions?: readonly SignedSuccession[]
}

/** The first message of whoever has no seat to ask for, and brings a revocation list of this operator. */
export interface Publish {
  readonly kind: 'publish'
  readonly operator: HolderId
  readonly channel: ChannelId
  /** Where the sender is the operator by a key that took over. */
  readonly successions?: readonly SignedSuccession[]
}

/** Both ways, of the room or of what is published: a revocation list that the other side may not have. */
export interface Revoked {
  readonly kind: 'revoked'
  readonly list: Sealed<RevocationList>
  /** From the operator's first key to the one that signed it. */
  readonly successions?: readonly SignedSuccession[]
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

export type FromMember = Join | Load | Alive | Publish | Revoked

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

/** The newest revocation list that the broker has: what it was sent, or an older one than the member knows. */
export interface Noted {
  readonly kind: 'noted'
  /** 0 for none. */
  readonly sequence: U64
}

export type FromBroker = Joined | Peer | Expired | Hint | Refused | Alive | Revoked | Noted

export function encodeFromMember(message: FromMember): Uint8Array {
  switch (message.kind) {
    case 'join': {
      const { operator, channel, side, credentials, addresses, wants, watches, knows, successions } = message
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
        ...(watches === undefined ? {} : { watch: true }),
        ...(knows === undefined ? {} : { rev: knows }),
        ...successionField(successions),
      })
    }
    case 'publish':
      return encode({
        t: 'publish',
        v: VERSION,
        op: bytesOf(message.operator),
        ch: bytesOf(message.channel),
        ...successionField(message.successions),
      })
    case 'revoked':
      return encodeRevoked(message)
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
    case 'refused':
      return encodeRefused(message)
    case 'revoked':
      return encodeRevoked(message)
    case 'noted':
      return encode({ t: 'noted', rev: message.sequence })
    case 'alive':
      return ALIVE
  }
}

/** `undefined` for a kind that is not known. @throws {CtError} `ERR_PROTOCOL`, `ERR_VERSION_UNSUPPORTED`, `ERR_ARTEFACT_INVALID` for a grant or list */
export function parseFromMember(payload: Uint8Array): FromMember | undefined {
  const map = readMap(payload)
  switch (map.get('t')) {
    case 'join':
      return parseJoin(map)
    case 'load':
      return { kind: 'load', taken: count(map, 'taken'), places: count(map, 'places') }
    case 'publish':
      checkVersion(map)
      return parsePublish(map)
    case 'revoked':
      return parseRevoked(map)
    case 'alive':
      return { kind: 'alive' }
    default:
      return undefined
  }
}

/** `undefined` for a kind that is not known. @throws {CtError} `ERR_PROTOCOL`, `ERR_ARTEFACT_INVALID` for a list */
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
    case 'revoked':
      return parseRevoked(map)
    case 'noted':
      return { kind: 'noted', sequence: bigCount(map, 'rev') }
    case 'alive':
      return { kind: 'alive' }
    default:
      return undefined
  }
}

function checkVersion(map: Fields): void {
  const version = map.get('v')
  if (version === VERSION) return
  throw new CtError('ERR_VERSION_UNSUPPORTED', `expected rendezvous version ${VERSION}, found ${String(version)}`)
}

function parseJoin(map: Fields): Join {
  checkVersion(map)
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
      grants: grants.map((grant: unknown) => decodeGrant(grant instanceof Uint8Array ? grant : new Uint8Array(0))),
      attestation: hexIn<Signature>(map, 'att', SIGNATURE_BYTES),
    },
    addresses: addressesIn(map),
    ...(map.has('wants') ? { wants: idIn<HolderId>(map, 'wants') } : {}),
    ...(map.get('watch') === true && side === 'initiate' ? { watches: true } : {}),
    ...(map.has('rev') ? { knows: bigCount(map, 'rev') } : {}),
    ...successionsIn(map),
  }
}

function parsePublish(map: Fields): Publish {
  const room = { operator: idIn<HolderId>(map, 'op'), channel: idIn<ChannelId>(map, 'ch') }
  return { kind: 'publish', ...room, ...successionsIn(map) }
}

function encodeRevoked({ list, successions }: Revoked): Uint8Array {
  return encode({ t: 'revoked', list: encodeRevocations(list), ...successionField(successions) })
}

function parseRevoked(map: Fields): Revoked {
  return { kind: 'revoked', list: decodeRevocations(bytesIn(map, 'list')), ...successionsIn(map) }
}

const ALIVE = encode({ t: 'alive' })
