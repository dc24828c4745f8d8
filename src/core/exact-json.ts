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
import { buildExactly, type ExactJson, type ExactObject } from './exact-build.ts'
import { type JsonObject, type JsonValue, MAX_NESTING, nestsTooDeep } from './json.ts'
import { printable } from './printable.ts'

export type { ExactJson, ExactObject }

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
  try {
    // The engine alone decides what is JSON.
    JSON.parse(text)
    return buildExactly(text, (key) => refuseRepeated(key, name))
  } catch (error) {
    if (error instanceof CtError) throw error
    const reason = error instanceof Error ? printable(error.message, MAX_REASON_CHARS) : 'not JSON'
    throw malformed(`${name}: expected JSON, found ${text.trim() === '' ? 'nothing' : `something else: ${reason}`}`)
  }
}

/**
 * As `JSON.parse`, but for numbers: {@link ExactJson} says how.
 *
 * @throws {SyntaxError} when the text is no JSON
 * @throws {RangeError} for a number beyond the doubles
 */
export function parseIntegersExactly(text: string): ExactJson {
  JSON.parse(text)
  return buildExactly(text, () => {})
}

function refuseRepeated(key: string, name: string): never {
  const shown = JSON.stringify(printable(key, MAX_REASON_CHARS))
  throw malformed(`${name}: expected each key once in an object, found ${shown} twice`)
}

/** The refusal of a text or value that is not what it should be. */
export function malformed(message: string): CtError {
  return new CtError('ERR_ARTEFACT_INVALID', message)
}

const MAX_REASON_CHARS = 120

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

/**
 * Of JSON text: a value that is written again with every digit of its integers.
 *
 * @throws {SyntaxError} when the text is no JSON
 * @throws {RangeError} for a number beyond the doubles
 */
export function readJsonValue(text: string): JsonValue {
  return mayLoseDigits(text) ? toJsonValue(parseIntegersExactly(text)) : (JSON.parse(text) as JsonValue)
}

/** False for JSON text of which `JSON.parse` makes what {@link readJsonValue} makes of it. */
export function mayLoseDigits(text: string): boolean {
  return MAY_LOSE.test(text)
}

/** Without so many digits in a row, and without such an exponent, no number loses a digit or exceeds the doubles. */
const MAY_LOSE = /\d{16}|\d[eE]\+?\d{3}/

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
