/**
 * What a peer answered a request with.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { mayLoseDigits, readJsonValue } from '../../core/exact-json.ts'
import { type JsonValue } from '../../core/json.ts'
import { outerMemberText } from '../../core/json-scan.ts'

/** A result or an error, with the whole response as it was sent. */
export type Answer =
  | { readonly text: string; readonly result: JsonValue }
  | { readonly text: string; readonly error: CtError }

/** The result, or the peer's error thrown. */
export function resultOf(answer: Answer): JsonValue {
  if ('error' in answer) throw answer.error
  return answer.result
}

/** The result as the peer wrote it: JSON text in which no integer has lost a digit. Throws the peer's error. */
export function resultTextOf(answer: Answer): string {
  const result = resultOf(answer)
  const { text } = answer
  return outerMemberText(text, 'result') ?? JSON.stringify(result)
}

/**
 * The result as a value that is written again with every digit of its integers. Throws the peer's error.
 *
 * @throws {RangeError} for a number beyond the doubles
 */
export function exactResultOf(answer: Answer): JsonValue {
  const result = resultOf(answer)
  return mayLoseDigits(answer.text) ? readJsonValue(resultTextOf(answer)) : result
}
