/**
 * Byte and text conversions that refuse instead of guessing.
 *
 * Holds: hex is decoded by code unit, so no input, however odd its encoding, can be cut inside a character.
 *
 * @module
 */
const HEX_DIGITS = '0123456789abcdef'

/** Lower-case hex, two digits a byte. */
export function toHex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += HEX_DIGITS.charAt(byte >> 4) + HEX_DIGITS.charAt(byte & 15)
  return text
}

/** Bytes of a hex text in either case, or what is wrong with it: its length or its first bad character. */
export function fromHex(text: string): Uint8Array | { readonly problem: string } {
  if (text.length % 2 !== 0) return { problem: `an odd number of hex digits (${text.length})` }
  const bytes = new Uint8Array(text.length / 2)
  for (let index = 0; index < text.length; index += 1) {
    const digit = hexDigit(text.charCodeAt(index))
    if (digit < 0) return { problem: `a character that is not a hex digit at position ${index + 1}` }
    const at = index >> 1
    bytes[at] = ((bytes[at] ?? 0) << 4) | digit
  }
  return bytes
}

function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

/** Equality whose duration depends on the lengths alone. */
export function equalBytes(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (let index = 0; index < left.length; index += 1) difference |= (left[index] ?? 0) ^ (right[index] ?? 0)
  return difference === 0
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const encoder = new TextEncoder()

/** UTF-8 bytes of a text. */
export function encodeUtf8(text: string): Uint8Array {
  return encoder.encode(text)
}

/** Text of UTF-8 bytes; `undefined` when they are not valid UTF-8. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}
