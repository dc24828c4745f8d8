/**
 * What becomes of a signed artefact when one bit of it changes on the way.
 *
 * @module
 */
import { decodeUtf8, encodeUtf8 } from '../../src/core/bytes.ts'
import { type ErrorCode, isCtError } from '../../src/core/errors.ts'

/** How many of the changed artefacts were refused, by code, and how many meant the same. */
export type FlipOutcome = Readonly<Partial<Record<ErrorCode | 'same', number>>>

/**
 * Opens every variant that differs in one bit. One that is accepted must mean what the artefact itself means.
 *
 * @param open refuses with an error of ours, or says all that was read of it, its signature included
 * @throws {Error} when a variant is accepted and means something else, or is refused by an error that is not ours
 */
export function openBitFlips(bytes: Uint8Array, open: (changed: Uint8Array) => string): FlipOutcome {
  const meant = open(bytes)
  const outcome: Partial<Record<ErrorCode | 'same', number>> = {}
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const found = meaningOf(flipped(bytes, bit), open, bit)
    if ('meaning' in found && found.meaning !== meant) {
      throw new Error(`bit ${bit} of byte ${bit >> 3}: expected a refusal, found ${found.meaning}`)
    }
    const key = 'meaning' in found ? 'same' : found.code
    outcome[key] = (outcome[key] ?? 0) + 1
  }
  return outcome
}

/** As {@link openBitFlips}, for a text in UTF-8; what is no text any more counts as refused. */
export function openTextBitFlips(text: string, open: (changed: string) => string): FlipOutcome {
  return openBitFlips(encodeUtf8(text), (bytes) => {
    const changed = decodeUtf8(bytes)
    if (changed === undefined) throw new NotText()
    return open(changed)
  })
}

class NotText extends Error {}

function meaningOf(
  bytes: Uint8Array,
  open: (changed: Uint8Array) => string,
  bit: number,
): { readonly meaning: string } | { readonly code: ErrorCode } {
  try {
    return { meaning: open(bytes) }
  } catch (error) {
    if (error instanceof NotText) return { code: 'ERR_ARTEFACT_INVALID' }
    if (isCtError(error)) return { code: error.code }
    throw new Error(`bit ${bit}: expected an error with a code, found another`, { cause: error })
  }
}

function flipped(bytes: Uint8Array, bit: number): Uint8Array {
  const changed = Uint8Array.from(bytes)
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7))
  return changed
}
