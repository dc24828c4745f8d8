/**
 * JSON objects as their members' texts, to change one without the others.
 *
 * @module
 */
import { type ExactObject, writeExactJson } from '../../src/core/exact-json.ts'

/** Each member's value as JSON text. */
export type JsonMembers = Readonly<Record<string, string>>

export function membersOf(object: ExactObject): JsonMembers {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, writeExactJson(value)]))
}

export function textOf(members: JsonMembers): string {
  return `{${Object.entries(members)
    .map(([key, value]) => `${JSON.stringify(key)}:${value}`)
    .join(',')}}`
}

export function without(members: JsonMembers, key: string): JsonMembers {
  return Object.fromEntries(Object.entries(members).filter(([name]) => name !== key))
}

/** The text with one more member, which may stand there already. */
export function withMember(text: string, key: string, value: string): string {
  return `${text.slice(0, -1)},${key}:${value}}`
}

/** Whole numbers that fit 64 bits, and values that are none. */
export const WHOLE_NUMBERS = ['0', '9007199254740992', '9007199254740993', '18446744073709551615'] as const
export const NO_WHOLE_NUMBERS = [
  '18446744073709551616',
  '-1',
  '1.0',
  '1.5',
  '1e3',
  '9007199254740993.0',
  '"5"',
  '[5]',
  'true',
  'null',
  '{}',
] as const

/** Texts that are not so many hex digits. */
export function noHex(digits: number): readonly string[] {
  const good = 'ab'.repeat(digits / 2)
  return [
    '',
    good.slice(1),
    `${good}a`,
    `${good}ab`,
    `0x${good.slice(2)}`,
    `g${good.slice(1)}`,
    ` ${good}`,
    `${good}\n`,
    ` ${good.slice(2)} `,
    // As many bytes or code units as there should be digits.
    'é'.repeat(digits / 2),
    'é'.repeat(digits),
    '😀'.repeat(digits / 4),
    `${good.slice(4)}😀`,
    `${good.slice(1)}é`,
    `${good.slice(1)}１`,
    `\u0000${good.slice(1)}`,
  ].map((text) => JSON.stringify(text))
}

/** Values that are no text of hex digits at all. */
export const NO_TEXTS = ['null', '0', '17', 'true', '[]', '{}'] as const
