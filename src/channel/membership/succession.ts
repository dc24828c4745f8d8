/**
 * Key successions: a key hands over to another one, which takes over, and both sign that.
 *
 * Holds: nobody who has one of the two keys alone can make one. The old key stays good until the overlap is over, so
 * that grants, lists and pins can follow without anybody being locked out.
 *
 * @module
 */
import { type ArtefactKind, checkTime, type OpenOptions, openUntimed, type Sealed, seal } from '../../core/artefact.ts'
import { toHex } from '../../core/bytes.ts'
import { type ChannelId, type HolderId, KEY_BYTES, SIGNATURE_BYTES, type Signature } from '../../core/ids.ts'
import { holderKey, type SecretKey, verifyExactly } from '../../core/keys.ts'
import { Preimage } from '../../core/preimage.ts'
import { type UnixSeconds, u64 } from '../../core/u64.ts'
import { malformedBytes } from './signed-wire.ts'

/** Each stands for its place in the list, counted from 1. */
const KINDS = ['operator', 'holder'] as const

/** Whose key it is: the operator’s of the channel, or a member’s. */
export type SuccessionKind = (typeof KINDS)[number]

export interface KeySuccession {
  /** Of a holder it may be {@link EVERY_CHANNEL}. */
  readonly channel: ChannelId
  readonly kind: SuccessionKind
  readonly from: HolderId
  readonly to: HolderId
  readonly issuedAt: UnixSeconds
  /** The first second in which the old key no longer counts for those that know of the succession. */
  readonly overlapUntil: UnixSeconds
}

export interface SignedSuccession {
  readonly body: KeySuccession
  /** Of the old key. */
  readonly oldSignature: Signature
  /** Of the new key. */
  readonly newSignature: Signature
}

/** A member’s key is the same on all its channels. */
export const EVERY_CHANNEL: ChannelId = '00'.repeat(KEY_BYTES) as ChannelId
/** One after the other, from the key that is known to the newest. */
export const MAX_SUCCESSIONS = 4
/** Of the operator and of the member together. */
export const MAX_SHOWN_SUCCESSIONS: number = 2 * MAX_SUCCESSIONS

const NAME = 'key succession'

/** Signed by both keys, each over the same bytes. */
export const KEY_SUCCESSION: ArtefactKind<KeySuccession> = {
  name: NAME,
  domain: 'framed',
  preimage: ({ channel, kind, from, to, issuedAt, overlapUntil }, form) =>
    new Preimage('ct-key-succession-v1', form)
      .id(channel)
      .tag(KINDS.indexOf(kind) + 1)
      .id(from)
      .id(to)
      .u64(issuedAt)
      .u64(overlapUntil)
      .bytes(),
  validity: ({ issuedAt }) => ({ issuedAt }),
  signers: ({ from, to }) => [from, to],
  refuseUnreadable: ({ body: { from, to } }) => refuseSame(from, to),
}

export interface Succession extends Omit<KeySuccession, 'from' | 'to'> {
  readonly oldKey: SecretKey
  readonly newKey: SecretKey
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` for one key that is both */
export function sealSuccession({ oldKey, newKey, ...rest }: Succession): SignedSuccession {
  const body = { ...rest, from: holderKey(oldKey).id, to: holderKey(newKey).id }
  const signatureOf = (secret: SecretKey): Signature => seal(KEY_SUCCESSION, body, secret).signature
  return { body, oldSignature: signatureOf(oldKey), newSignature: signatureOf(newKey) }
}

/** @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_ARTEFACT_EARLY` */
export function checkSuccession(
  { body, oldSignature, newSignature }: SignedSuccession,
  time: Pick<OpenOptions, 'now'>,
): void {
  const signed = (signature: Signature, signer: HolderId): unknown =>
    openUntimed(KEY_SUCCESSION, { body, signature } satisfies Sealed<KeySuccession>, {
      signer,
      verifier: verifyExactly,
    })
  signed(oldSignature, body.from)
  signed(newSignature, body.to)
  checkTime(KEY_SUCCESSION, body, time)
}

const KIND_OFFSET = 2 * SIGNATURE_BYTES + KEY_BYTES
const TIMES_OFFSET = KIND_OFFSET + 1 + 2 * KEY_BYTES
export const SUCCESSION_BYTES: number = TIMES_OFFSET + 16

/** Both signatures ‖ channel ‖ kind ‖ old key ‖ new key ‖ issued at ‖ end of the overlap; numbers are little-endian. */
export function encodeSuccession({ body, oldSignature, newSignature }: SignedSuccession): Uint8Array {
  const { channel, kind, from, to, issuedAt, overlapUntil } = body
  const wire = new Uint8Array(SUCCESSION_BYTES)
  wire.set(Buffer.from(`${oldSignature}${newSignature}${channel}`, 'hex'))
  wire[KIND_OFFSET] = KINDS.indexOf(kind) + 1
  wire.set(Buffer.from(`${from}${to}`, 'hex'), KIND_OFFSET + 1)
  const view = new DataView(wire.buffer)
  view.setBigUint64(TIMES_OFFSET, issuedAt, true)
  view.setBigUint64(TIMES_OFFSET + 8, overlapUntil, true)
  return wire
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function decodeSuccession(bytes: Uint8Array): SignedSuccession {
  const { length } = bytes
  if (length !== SUCCESSION_BYTES) throw malformedBytes(NAME, `expected ${SUCCESSION_BYTES} bytes, found ${length}`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, length)
  const hexAt = (start: number, count: number): string => toHex(bytes.subarray(start, start + count))
  const kind = KINDS[view.getUint8(KIND_OFFSET) - 1]
  if (kind === undefined) throw malformedBytes(NAME, `expected kind 1 or 2, found ${view.getUint8(KIND_OFFSET)}`)
  const from = hexAt(KIND_OFFSET + 1, KEY_BYTES) as HolderId
  const to = hexAt(KIND_OFFSET + 1 + KEY_BYTES, KEY_BYTES) as HolderId
  refuseSame(from, to)
  return {
    body: {
      channel: hexAt(2 * SIGNATURE_BYTES, KEY_BYTES) as ChannelId,
      kind,
      from,
      to,
      issuedAt: u64(view.getBigUint64(TIMES_OFFSET, true)),
      overlapUntil: u64(view.getBigUint64(TIMES_OFFSET + 8, true)),
    },
    oldSignature: hexAt(0, SIGNATURE_BYTES) as Signature,
    newSignature: hexAt(SIGNATURE_BYTES, SIGNATURE_BYTES) as Signature,
  }
}

function refuseSame(from: HolderId, to: HolderId): void {
  if (from === to) throw malformedBytes(NAME, 'expected two keys, found one')
}

/** A list of byte strings, as it stands in a CBOR map; none without one. @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function parseSuccessions(value: unknown): readonly SignedSuccession[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.length > MAX_SHOWN_SUCCESSIONS) {
    throw malformedBytes(NAME, `expected a list of at most ${MAX_SHOWN_SUCCESSIONS}`)
  }
  return value.map((bytes: unknown) => decodeSuccession(bytes instanceof Uint8Array ? bytes : NO_BYTES))
}

const NO_BYTES = new Uint8Array(0)
