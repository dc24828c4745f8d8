/**
 * Revocation lists: an operator says which holders it removed from a channel.
 *
 * Holds: a list replaces the ones before it, and which came later its sequence says, not a clock: a member that was
 * removed is removed also where clocks differ. Of one set of holders there is one wire form: sorted, none twice.
 *
 * @module
 */
import { type ArtefactKind, openUntimed, type Sealed, seal, type Verified } from '../../core/artefact.ts'
import { toHex } from '../../core/bytes.ts'
import { type ChannelId, type HolderId, KEY_BYTES, SIGNATURE_BYTES, type Signature } from '../../core/ids.ts'
import { type SecretKey, verifyExactly } from '../../core/keys.ts'
import { Preimage } from '../../core/preimage.ts'
import { type U64, type UnixSeconds, u64 } from '../../core/u64.ts'
import { malformedBytes, signedByOneOf } from './signed-wire.ts'

export interface RevocationList {
  readonly channel: ChannelId
  /** Grows with every list of the operator for this channel; the highest counts. */
  readonly sequence: U64
  /** For people: nothing is decided by it. */
  readonly issuedAt: UnixSeconds
  /** Sorted, none twice. */
  readonly removed: readonly HolderId[]
}

/** More are removed by a new channel: every member holds the list, and every broker sends it. */
export const MAX_REMOVED = 512

const NAME = 'revocation list'

/** Signed by the operator of the channel. */
export const REVOCATION_LIST: ArtefactKind<RevocationList> = {
  name: NAME,
  domain: 'framed',
  preimage: ({ channel, sequence, issuedAt, removed }, form) =>
    new Preimage('ct-revocations-v1', form)
      .id(channel)
      .u64(sequence)
      .u64(issuedAt)
      .list(removed, (preimage, holder) => preimage.id(holder))
      .bytes(),
  // A removal that came early or late is still one.
  validity: () => ({}),
  refuseUnreadable: ({ body: { removed } }) => refuseUnsorted(removed),
}

/** What an operator says anew, whatever the order in which it names them. */
export interface Removal {
  readonly channel: ChannelId
  readonly sequence: U64
  readonly issuedAt: UnixSeconds
  readonly removed: Iterable<HolderId>
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` for more than {@link MAX_REMOVED} */
export function sealRevocations({ removed, ...rest }: Removal, operator: SecretKey): Verified<RevocationList> {
  return seal(REVOCATION_LIST, { ...rest, removed: [...new Set(removed)].sort() }, operator)
}

/**
 * @param operators keys of which one had to sign
 * @throws {CtError} `ERR_SIGNATURE_INVALID`
 */
export function openRevocations(
  sealed: Sealed<RevocationList>,
  ...operators: readonly HolderId[]
): Verified<RevocationList> {
  return signedByOneOf(operators, (signer) => openUntimed(REVOCATION_LIST, sealed, { signer, verifier: verifyExactly }))
}

const SEQUENCE_OFFSET = SIGNATURE_BYTES + KEY_BYTES
const ISSUED_OFFSET = SEQUENCE_OFFSET + 8
const COUNT_OFFSET = ISSUED_OFFSET + 8
const HEAD_BYTES = COUNT_OFFSET + 4
export const MAX_REVOCATION_BYTES: number = HEAD_BYTES + MAX_REMOVED * KEY_BYTES

/** signature ‖ channel ‖ sequence ‖ issued at ‖ count ‖ holders; numbers are little-endian. */
export function encodeRevocations({ body, signature }: Sealed<RevocationList>): Uint8Array {
  const { channel, sequence, issuedAt, removed } = body
  const wire = new Uint8Array(HEAD_BYTES + removed.length * KEY_BYTES)
  wire.set(Buffer.from(`${signature}${channel}`, 'hex'))
  const view = new DataView(wire.buffer)
  view.setBigUint64(SEQUENCE_OFFSET, sequence, true)
  view.setBigUint64(ISSUED_OFFSET, issuedAt, true)
  view.setUint32(COUNT_OFFSET, removed.length, true)
  wire.set(Buffer.from(removed.join(''), 'hex'), HEAD_BYTES)
  return wire
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function decodeRevocations(bytes: Uint8Array): Sealed<RevocationList> {
  const { length } = bytes
  if (length < HEAD_BYTES) throw malformedBytes(NAME, `expected at least ${HEAD_BYTES} bytes, found ${length}`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, length)
  const count = view.getUint32(COUNT_OFFSET, true)
  if (count > MAX_REMOVED) throw malformedBytes(NAME, `expected at most ${MAX_REMOVED} holders, found ${count}`)
  const whole = HEAD_BYTES + count * KEY_BYTES
  if (length !== whole) throw malformedBytes(NAME, `expected ${whole} bytes for ${count} holders, found ${length}`)
  const idAt = (start: number): string => toHex(bytes.subarray(start, start + KEY_BYTES))
  const removed = Array.from({ length: count }, (_, index) => idAt(HEAD_BYTES + index * KEY_BYTES) as HolderId)
  refuseUnsorted(removed)
  return {
    body: {
      channel: idAt(SIGNATURE_BYTES) as ChannelId,
      sequence: u64(view.getBigUint64(SEQUENCE_OFFSET, true)),
      issuedAt: u64(view.getBigUint64(ISSUED_OFFSET, true)),
      removed,
    },
    signature: toHex(bytes.subarray(0, SIGNATURE_BYTES)) as Signature,
  }
}

// Hex digits sort as the bytes they stand for.
function refuseUnsorted(removed: readonly HolderId[]): void {
  if (removed.length > MAX_REMOVED) {
    throw malformedBytes(NAME, `expected at most ${MAX_REMOVED} holders, found ${removed.length}`)
  }
  const misplaced = removed.findIndex((holder, index) => index > 0 && holder <= (removed[index - 1] ?? ''))
  if (misplaced > 0) throw malformedBytes(NAME, `expected holders in order and none twice, found ${removed[misplaced]}`)
}
