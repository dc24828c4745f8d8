/**
 * Readers for the members of artefacts: what does not fit is refused with its place, what was expected and what was
 * found.
 *
 * Holds: nothing is converted or guessed. Members nobody asked for are ignored; what is absent has a default only where
 * the reader says so.
 *
 * @module
 */
import { type ExactJson, type ExactObject, malformed, parseExactJson, writeExactJson } from './exact-json.ts'
import { type Parsed, parseHolderId } from './ids.ts'
import { isJsonObject } from './json.ts'
import { printable } from './printable.ts'
import { type U64, U64_MAX } from './u64.ts'

/**
 * The value, if it fits.
 *
 * @param at where it stands, for messages
 * @throws {CtError} `ERR_ARTEFACT_INVALID`
 */
export type Read<Value> = (value: ExactJson | undefined, at: string) => Value

type ShapeValues<Shape extends Readonly<Record<string, Read<unknown>>>> = {
  readonly [Key in keyof Shape]: ReturnType<Shape[Key]>
}

/** More than any honest artefact lists. */
export const MAX_LIST_ITEMS = 4_096
/** Enough for a description, too little to fill a log. */
export const MAX_TEXT_CHARS = 65_536

/** Reads a JSON text as this shape. */
export function parseAs<Value>(read: Read<Value>, text: string, name: string): Value {
  return read(parseExactJson(text, name), name)
}

/** An object with these members, and whatever else. */
export function shape<const Shape extends Readonly<Record<string, Read<unknown>>>>(
  members: Shape,
): Read<ShapeValues<Shape>> {
  return (value, at) => {
    if (!isExactObject(value)) throw unexpected(at, 'an object', value)
    const entries = Object.entries(members).map(([key, read]) => [key, read(own(value, key), `${at}.${key}`)])
    return Object.fromEntries(entries) as ShapeValues<Shape>
  }
}

/** A list whose items all fit. */
export function listOf<Item>(read: Read<Item>): Read<readonly Item[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw unexpected(at, 'a list', value)
    if (value.length > MAX_LIST_ITEMS) {
      throw malformed(`${at}: expected at most ${MAX_LIST_ITEMS} items, found ${value.length}`)
    }
    return value.map((item: ExactJson, index) => read(item, `${at}[${index}]`))
  }
}

/** What is absent reads as the default. */
export function optional<Value>(read: Read<Value>, fallback: Value): Read<Value> {
  return (value, at) => (value === undefined ? fallback : read(value, at))
}

export const text: Read<string> = (value, at) => {
  if (typeof value !== 'string') throw unexpected(at, 'a text', value)
  if (value.length > MAX_TEXT_CHARS) {
    throw malformed(`${at}: expected at most ${MAX_TEXT_CHARS} characters, found ${value.length}`)
  }
  if (!value.isWellFormed()) throw malformed(`${at}: expected valid Unicode, found half a surrogate pair`)
  return value
}

export const wholeNumber: Read<U64> = (value, at) => {
  if (typeof value === 'bigint' && value >= 0n && value <= U64_MAX) return value as U64
  throw unexpected(at, `a whole number from 0 to ${U64_MAX}`, value)
}

/** A key, an id, a hash or a signature in hex of either case, without blanks. */
export function hexAs<Id extends string>(parse: (text: string) => Parsed<Id>): Read<Id> {
  return (value, at) => {
    if (typeof value !== 'string') throw unexpected(at, 'a text of hex digits', value)
    const parsed = value === value.trim() ? parse(value) : { problem: 'expected hex digits, found blanks around them' }
    if ('problem' in parsed) throw malformed(`${at}: ${parsed.problem}`)
    return parsed.value
  }
}

export const holderId = hexAs(parseHolderId)

/** One of these words, exactly; each stands for a value. */
export function oneOf<const Value>(words: Readonly<Record<string, Value>>): Read<Value> {
  return (value, at) => {
    const found = typeof value === 'string' && Object.hasOwn(words, value) ? words[value] : undefined
    if (found === undefined) throw unexpected(at, Object.keys(words).join('|'), value)
    return found
  }
}

export function unexpected(at: string, expected: string, value: ExactJson | undefined): Error {
  return malformed(`${at}: expected ${expected}, found ${value === undefined ? 'nothing' : shown(value)}`)
}

export function isExactObject(value: ExactJson | undefined): value is ExactObject {
  return isJsonObject(value)
}

/** A member of the object itself, never of its prototype. */
export function own(value: ExactObject, key: string): ExactJson | undefined {
  return Object.hasOwn(value, key) ? value[key] : undefined
}

function shown(value: ExactJson): string {
  if (Array.isArray(value)) return 'a list'
  if (isExactObject(value)) return 'an object'
  if (Object.is(value, -0)) return '-0'
  // Written out, it would look like the integer that was expected.
  if (Number.isInteger(value)) return 'a number with a fraction or an exponent'
  return printable(writeExactJson(value), MAX_SHOWN_CHARS)
}

const MAX_SHOWN_CHARS = 60
