/**
 * Inputs and outputs of invocations: any JSON, kept whole.
 *
 * @module
 */
import { MAX_NESTING, nestsTooDeep } from '../../core/json.ts'
import { Refusal } from '../refusal.ts'

export const MAX_PAYLOAD_BYTES = 1_048_576
const MAX_PREVIEW_BYTES = 16_384

/** As it is kept. @throws {Refusal} `payload_too_large`, `invalid_request` */
export function payloadText(member: string, value: unknown): string {
  const text = JSON.stringify(value ?? null)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_PAYLOAD_BYTES) {
    throw new Refusal('payload_too_large', `${member}: expected at most ${MAX_PAYLOAD_BYTES} bytes, found ${bytes}`)
  }
  if (nestsTooDeep(text)) throw new Refusal('invalid_request', `${member}: expected at most ${MAX_NESTING} levels`)
  return text
}

/** The whole, or that it is too long to be shown in a list. */
export function previewOf(text: string | null): unknown {
  if (text === null) return null
  const bytes = Buffer.byteLength(text)
  return bytes > MAX_PREVIEW_BYTES ? { __chakramcp_truncated__: true, bytes } : (JSON.parse(text) as unknown)
}
