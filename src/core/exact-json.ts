/**
 * JSON as signed artefacts need it: integers to the last digit, and no text with two readings.
 *
 * Holds: of every text there is one value or a refusal. A key that stands twice in one object is refused, since readers
 * differ in which one they take, and so is a number beyond the doubles. Integers are bigints; a number written in any
 * other way, be it `1.0`, `1e3` or `-0`, is a double, which no artefact holds.
 *
 * @module
 */
import { CtError } from './errors.ts'
import { endOfString, type JsonObject, type JsonValue, MAX_NESTING, nestsTooDeep } from './json.ts'
import { skipBlanks } from './json-scan.ts'
import { printable } from './printable.ts'

/** Integers are bigints, other numbers are doubles. */
export type ExactJson = string | number | bigint | boolean | null | readonly ExactJson[] | ExactObject

export type ExactObject = { readonly [key: string]: ExactJson }

/** Larger than any honest artefact; a bound on what a stranger's text can cost. */
export const MAX_ARTEFACT_CHARS = 1_048_576

/**
 * Reads one JSON text.
 *
 * @param name of what the text should be, for messages
 * @throws {CtError} `ERR_ARTEFACT_INVALID`
 */
export function parseExactJson(text: string, name: string): ExactJson {
  if (text.length > MAX_ARTEFACT_CHARS) {
    throw malformed(`${name}: expected at most ${MAX_ARTEFACT_CHARS} characters, found ${text.length}`)
  }
  if (nestsTooDeep(text)) {
    throw malformed(`${name}: expected arrays and objects nested at most ${MAX_NESTING} deep, found more`)
  }
  let value: ExactJson
  try {
    value = parseIntegersExactly(text)
  } catch (error) {
    const reason = error instanceof Error ? printable(error.message, MAX_REASON_CHARS) : 'not JSON'
    throw malformed(`${name}: expected JSON, found ${text.trim() === '' ? 'nothing' : `something else: ${reason}`}`)
  }
  const twice = repeatedKey(text)
  if (twice !== undefined) {
    const key = JSON.stringify(printable(twice, MAX_REASON_CHARS))
    throw malformed(`${name}: expected each key once in an object, found ${key} twice`)
  }
  return value
}

/**
 * As `JSON.parse`, but for numbers: {@link ExactJson} says how.
 *
 * @throws {SyntaxError} when the text is no JSON
 * @throws {RangeError} for a number beyond the doubles
 */
export function parseIntegersExactly(text: string): ExactJson {
  return JSON.parse(text, exactNumber)
}

/** The refusal of a text or value that is not what it should be. */
export function malformed(message: string): CtError {
  return new CtError('ERR_ARTEFACT_INVALID', message)
}

const MAX_REASON_CHARS = 120

/** What the parser tells a reviver about a primitive. */
interface Primitive {
  readonly source?: string
}

function exactNumber(_key: string, value: unknown, { source }: Primitive = {}): unknown {
  if (typeof value !== 'number') return value
  if (!Number.isFinite(value)) throw new RangeError('a number beyond the doubles')
  return source !== undefined && /^(?:0|-?[1-9]\d*)$/.test(source) ? BigInt(source) : value
}

/** The first key that an object of the text has twice, by its meaning and not its spelling; the text is valid JSON. */
function repeatedKey(text: string): string | undefined {
  const open: (Set<string> | undefined)[] = []
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case OPEN_BRACE:
        open.push(new Set())
        break
      case OPEN_BRACKET:
        open.push(undefined)
        break
      case CLOSE_BRACE:
      case CLOSE_BRACKET:
        open.pop()
        break
      case QUOTE: {
        const end = endOfString(text, at)
        const keys = open.at(-1)
        if (keys !== undefined && text.charCodeAt(skipBlanks(text, end + 1)) === COLON) {
          const spelling = text.slice(at + 1, end)
          const key: string = spelling.includes('\\') ? JSON.parse(`"${spelling}"`) : spelling
          if (keys.has(key)) return key
          keys.add(key)
        }
        at = end
      }
    }
  }
  return undefined
}

/** The value as JSON on one line, every digit kept. */
export function writeExactJson(value: ExactJson): string {
  return JSON.stringify(toJsonValue(value))
}

/** The value for `JSON.stringify`, which then writes every integer to the last digit. */
export function toJsonValue(value: ExactObject): JsonObject
export function toJsonValue(value: ExactJson): JsonValue
export function toJsonValue(value: ExactJson): JsonValue {
  if (typeof value === 'bigint') return jsonInteger(value)
  if (Array.isArray(value)) return value.map(toJsonValue)
  if (typeof value !== 'object' || value === null) return value as JsonValue
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, toJsonValue(member)]))
}

/** Beyond 2^53 a number would lose digits; the engine then writes the digits as they are. */
function jsonInteger(value: bigint): JsonValue {
  const number = Number(value)
  return Number.isSafeInteger(number) ? number : RAW.rawJSON(value.toString())
}

/** True for what {@link toJsonValue} makes of an integer beyond 2^53: it looks like an object and is written as digits. */
export function isRawInteger(value: unknown): boolean {
  return RAW.isRawJSON(value)
}

/** Part of every engine we run on, not yet of the compiler's library. */
const RAW = JSON as unknown as {
  readonly rawJSON: (text: string) => JsonValue
  readonly isRawJSON: (value: unknown) => boolean
}

const QUOTE = 0x22
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
