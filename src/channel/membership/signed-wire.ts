/**
 * Binary form of what an operator signs about one key on one channel: signature ‖ channel ‖ key ‖ rest.
 *
 * Holds: the length is exact on both sides, so no byte of a wire form is outside what is read.
 *
 * @module
 */
import { toHex } from '../../core/bytes.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId, KEY_BYTES, SIGNATURE_BYTES, type Signature } from '../../core/ids.ts'

export interface SignedWire {
  readonly signature: Signature
  readonly channel: ChannelId
  /** Whom it is about. */
  readonly key: HolderId
  readonly rest: Uint8Array
}

/** Length of all but the rest. */
const HEAD_BYTES = SIGNATURE_BYTES + 2 * KEY_BYTES

export function encodeSigned({ signature, channel, key, rest }: SignedWire): Uint8Array {
  const wire = new Uint8Array(HEAD_BYTES + rest.length)
  wire.set(Buffer.from(`${signature}${channel}${key}`, 'hex'))
  wire.set(rest, HEAD_BYTES)
  return wire
}

/**
 * @param restBytes expected length of the rest
 * @param name of the artefact, for messages
 * @throws {CtError} `ERR_ARTEFACT_INVALID`
 */
export function decodeSigned(bytes: Uint8Array, restBytes: number, name: string): SignedWire {
  const length = HEAD_BYTES + restBytes
  if (bytes.length !== length) throw malformedBytes(name, `expected ${length} bytes, found ${bytes.length}`)
  const hexAt = (start: number, count: number): string => toHex(bytes.subarray(start, start + count))
  // So many bytes give so many digits: nothing is left to parse.
  return {
    signature: hexAt(0, SIGNATURE_BYTES) as Signature,
    channel: hexAt(SIGNATURE_BYTES, KEY_BYTES) as ChannelId,
    key: hexAt(SIGNATURE_BYTES + KEY_BYTES, KEY_BYTES) as HolderId,
    // A copy of its own: a Buffer may be a part of a larger one.
    rest: Uint8Array.from(bytes.subarray(HEAD_BYTES)),
  }
}

/** The refusal of bytes that are no such artefact, in the words of the original program. */
export function malformedBytes(name: string, problem: string): CtError {
  return new CtError('ERR_ARTEFACT_INVALID', `${name} bytes malformed: ${problem}`)
}

/**
 * What the first of the keys yields that signed it.
 *
 * @throws what the last key yields when none did; whatever is not about the signature at once
 */
export function signedByOneOf<Value>(keys: readonly HolderId[], open: (signer: HolderId) => Value): Value {
  let failure: unknown = new CtError('ERR_SIGNATURE_INVALID', 'expected a key that may sign, found none')
  for (const key of keys) {
    try {
      return open(key)
    } catch (error) {
      if (!isCtError(error, 'ERR_SIGNATURE_INVALID')) throw error
      failure = error
    }
  }
  throw failure
}
