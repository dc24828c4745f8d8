/**
 * The tag in front of a call that survives a reconnect: `u64 sequence ‖ u64 acknowledged below ‖ u8 flags`, big endian.
 * The caller's run is not repeated in every call: it stands in the hello.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type InstanceId } from '../../core/ids.ts'
import { type CallTag } from '../../core/link.ts'

export const CALL_TAG_BYTES = 17
const FLAG_RESENT = 0x01

export function encodeCallTag({ sequence, acknowledgedBelow, resent }: CallTag): Uint8Array {
  const bytes = Buffer.allocUnsafe(CALL_TAG_BYTES)
  bytes.writeBigUInt64BE(BigInt(sequence), 0)
  bytes.writeBigUInt64BE(BigInt(acknowledgedBelow), 8)
  bytes[16] = resent ? FLAG_RESENT : 0
  return bytes
}

/** @throws {CtError} `ERR_PROTOCOL` when it is cut short or a number is out of range */
export function parseCallTag(payload: Uint8Array, instance: InstanceId): CallTag {
  if (payload.length < CALL_TAG_BYTES) {
    throw new CtError('ERR_PROTOCOL', `expected a call tag of ${CALL_TAG_BYTES} bytes, found ${payload.length}`)
  }
  const view = new DataView(payload.buffer, payload.byteOffset, CALL_TAG_BYTES)
  const sequence = Number(view.getBigUint64(0))
  const acknowledgedBelow = Number(view.getBigUint64(8))
  if (!Number.isSafeInteger(sequence) || sequence < 1 || acknowledgedBelow > sequence) {
    throw new CtError('ERR_PROTOCOL', 'expected a call sequence from 1 to 2^53-1, not below the acknowledged mark')
  }
  return { instance, sequence, acknowledgedBelow, resent: ((payload[16] ?? 0) & FLAG_RESENT) !== 0 }
}
