/**
 * JSON values as the type checker sees them, and the one bound on how deep they may nest.
 *
 * Holds: nothing here recurses, so no text, however deep, can exhaust the stack.
 *
 * @module
 */
export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonObject

export type JsonObject = { readonly [key: string]: JsonValue }

/** Far above any honest message, far below what overflows the stack of a recursive reader such as `JSON.stringify`. */
export const MAX_NESTING = 256

/** True for objects that are neither null nor arrays. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** True when arrays and objects of the JSON text nest deeper than {@link MAX_NESTING}; the text need not be valid. */
export function nestsTooDeep(text: string): boolean {
  // Every level needs an opening and a closing bracket, so short texts cannot reach the bound.
  if (text.length <= 2 * MAX_NESTING) return false
  let depth = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === QUOTE) {
      index = endOfString(text, index)
    } else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      depth += 1
      if (depth > MAX_NESTING) return true
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) {
      depth -= 1
    }
  }
  return false
}

/** Index of the quote that ends the string whose opening quote is at `start`; the text's length when it never ends. */
export function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return text.length
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
