/**
 * Unsigned 64-bit integers: amounts and points in time of the signed artefacts.
 *
 * Holds: a `U64` is exact from end to end. It is never a double, which could not tell 2^53 and 2^53 + 1 apart.
 *
 * @module
 */
import { type Brand } from './brand.ts'
import { type Parsed } from './ids.ts'
import { printable } from './printable.ts'

export type U64 = Brand<bigint, 'U64'>

/** A point in time: whole seconds since 1970. */
export type UnixSeconds = U64

/** 2^64 − 1. */
export const U64_MAX: U64 = 0xffff_ffff_ffff_ffffn as U64

/** @throws {RangeError} outside 0 … 2^64 − 1, and for numbers that are no safe integers */
export function u64(value: bigint | number): U64 {
  // A number beyond 2^53 may stand for several integers.
  const exact = typeof value === 'bigint' || Number.isSafeInteger(value) ? BigInt(value) : undefined
  if (exact === undefined || exact < 0n || exact > U64_MAX) {
    throw new RangeError(`expected an integer from 0 to ${U64_MAX}, found ${value}`)
  }
  return exact as U64
}

/** The sum, or the largest value there is when the sum is larger. */
export function saturatingAdd(left: U64, right: U64): U64 {
  const sum = left + right
  return (sum > U64_MAX ? U64_MAX : sum) as U64
}

/** A value in plain decimal digits; blanks around them are allowed. */
export function parseU64(text: string): Parsed<U64> {
  const digits = text.trim()
  if (/^\d{1,20}$/.test(digits)) {
    const value = BigInt(digits)
    if (value <= U64_MAX) return { value: value as U64 }
  }
  const found = JSON.stringify(printable(text, MAX_SHOWN_CHARS))
  return { problem: `expected a whole number from 0 to ${U64_MAX}, found ${found}` }
}

/** More than the longest value has digits. */
const MAX_SHOWN_CHARS = 32

/** Now, as artefacts count it. */
export function unixSeconds(clock: { readonly now: () => number }): UnixSeconds {
  return u64(Math.floor(clock.now() / 1_000))
}
