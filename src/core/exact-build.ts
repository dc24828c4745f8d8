/**
 * The value of a JSON text that is known to be valid, its integers to the last digit.
 *
 * The engine's own reader can do this too, with a function that it calls for every value; that takes many times as long,
 * and strangers choose how many values there are.
 *
 * Holds: every character is looked at a fixed number of times, and nothing recurses. Of text that is not valid something
 * is made, but it always ends.
 *
 * @module
 */
import { endOfString } from './json.ts'

/** Integers are bigints, other numbers are doubles. */
export type ExactJson = string | number | bigint | boolean | null | readonly ExactJson[] | ExactObject

export type ExactObject = { readonly [key: string]: ExactJson }

/**
 * @param text JSON that `JSON.parse` accepts
 * @param refuse is told each key that its object has already, by its meaning and not its spelling; if it returns, the
 * later member counts
 * @throws {RangeError} for a number beyond the doubles
 */
export function buildExactly(text: string, refuse: (key: string) => void): ExactJson {
  const root = new Open(undefined, [])
  let open = root
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at)
      const value = stringAt(text, at, end)
      if (open.awaitsKey()) open.name(value, refuse)
      else open.add(value)
      at = end
    } else if (code === MINUS || (code >= DIGIT_0 && code <= DIGIT_9)) {
      const end = endOfNumber(text, at)
      open.add(numberAt(text, at, end))
      at = end - 1
    } else if (code === OPEN_BRACE) {
      const members = {}
      open.add(members)
      open = new Open(open, members)
    } else if (code === OPEN_BRACKET) {
      const items: ExactJson[] = []
      open.add(items)
      open = new Open(open, items)
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      open = open.parent ?? root
    } else {
      const word = WORDS.get(code)
      if (word !== undefined) {
        open.add(word.value)
        at += word.length - 1
      }
    }
  }
  return root.first()
}

/** An array or an object whose end was not reached yet. */
class Open {
  readonly parent: Open | undefined
  readonly #items: ExactJson[] | undefined
  readonly #members: Record<string, ExactJson>
  #key: string | undefined

  constructor(parent: Open | undefined, value: ExactJson[] | Record<string, ExactJson>) {
    this.parent = parent
    this.#items = Array.isArray(value) ? value : undefined
    this.#members = Array.isArray(value) ? {} : value
  }

  awaitsKey(): boolean {
    return this.#items === undefined && this.#key === undefined
  }

  name(key: string, refuse: (key: string) => void): void {
    if (Object.hasOwn(this.#members, key)) refuse(key)
    this.#key = key
  }

  add(value: ExactJson): void {
    const key = this.#key
    if (this.#items !== undefined) {
      this.#items.push(value)
    } else if (key === '__proto__') {
      // By assignment it would become the prototype.
      Object.defineProperty(this.#members, key, { value, configurable: true, enumerable: true, writable: true })
    } else if (key !== undefined) {
      this.#members[key] = value
    }
    this.#key = undefined
  }

  first(): ExactJson {
    return this.#items?.[0] ?? null
  }
}

function stringAt(text: string, start: number, end: number): string {
  const inside = text.slice(start + 1, end)
  return inside.includes('\\') ? (JSON.parse(`"${inside}"`) as string) : inside
}

function endOfNumber(text: string, start: number): number {
  let end = start + 1
  while (isPartOfNumber(text.charCodeAt(end))) end += 1
  return end
}

function isPartOfNumber(code: number): boolean {
  return (code >= DIGIT_0 && code <= DIGIT_9) || code === DOT || (code | LOWER_CASE) === LOWER_E || isSign(code)
}

function isSign(code: number): boolean {
  return code === MINUS || code === PLUS
}

function numberAt(text: string, start: number, end: number): bigint | number {
  const short = shortInteger(text, start, end)
  if (short !== undefined) return SMALL[short] ?? BigInt(short)
  const digits = text.slice(start, end)
  const double = Number(digits)
  if (!Number.isFinite(double)) throw new RangeError('a number beyond the doubles')
  return /^-?[1-9]\d*$/.test(digits) ? BigInt(digits) : double
}

/** An integer of so few digits that a double holds it; a minus makes it long. */
function shortInteger(text: string, start: number, end: number): number | undefined {
  if (end - start > SHORT_DIGITS) return undefined
  let value = 0
  for (let at = start; at < end; at += 1) {
    const digit = text.charCodeAt(at) - DIGIT_0
    if (digit < 0 || digit > 9) return undefined
    value = value * 10 + digit
  }
  return value
}

const SHORT_DIGITS = 15
/** Made once: to make an integer takes longer than to read it. */
const SMALL = Array.from({ length: 256 }, (_, value) => BigInt(value))
const QUOTE = 0x22
const PLUS = 0x2b
const MINUS = 0x2d
const DOT = 0x2e
const DIGIT_0 = 0x30
const DIGIT_9 = 0x39
const LOWER_E = 0x65
const LOWER_CASE = 0x20
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
/** By their first letter. */
const WORDS: ReadonlyMap<number, { readonly value: boolean | null; readonly length: number }> = new Map([
  [0x74, { value: true, length: 4 }],
  [0x66, { value: false, length: 5 }],
  [0x6e, { value: null, length: 4 }],
])
