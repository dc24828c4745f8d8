/**
 * The shape of a service: what its calls bring, how the handler gets it, and what the handler's output becomes.
 *
 * @module
 */
import { encodeUtf8 } from '../../core/bytes.ts'
import { CtError } from '../../core/errors.ts'
import { type JsonValue } from '../../core/json.ts'
import { kindOf } from '../../core/json-kinds.ts'
import { type ObjectSchema } from '../tool.ts'

/** Largest input, in UTF-8 bytes: the limit of the first implementation, which callers may rely on. */
export const MAX_INPUT_BYTES = 4_194_304

/** What the handler gets. */
export interface HandlerInput {
  /** For stdin. */
  readonly bytes: Uint8Array
  /** The same as one JSON text on one line, for handlers that are spoken to in JSON. */
  readonly json: () => string
}

/** What the handler gave: plain text, or JSON text. */
export interface HandlerOutput {
  readonly kind: 'text' | 'json'
  readonly text: string
}

/** The handler's output is not what it should be; the text says how, and holds nothing of it. */
export interface OutputProblem {
  readonly problem: string
}

export interface HandlerShape {
  readonly title?: string
  readonly description: string
  readonly inputSchema: ObjectSchema
  readonly outputSchema: ObjectSchema
  /** @throws {CtError} `ERR_CALL_INVALID` */
  readonly read: (args: unknown, argumentsText: string) => HandlerInput
  readonly result: (output: HandlerOutput) => { readonly value: JsonValue } | OutputProblem
}

/** Text in, text out. */
export function fixedShape(slug: string): HandlerShape {
  return {
    description: `typed ${slug} service — fixed {input:string} -> {output:string} shape`,
    inputSchema: {
      type: 'object',
      properties: { input: { type: 'string' } },
      required: ['input'],
    },
    outputSchema: {
      type: 'object',
      properties: { output: { type: 'string' } },
      required: ['output'],
    },
    read: (args) => readText(args),
    result: ({ kind, text }) => {
      if (kind === 'text') return { value: { output: text } }
      const output: unknown = JSON.parse(text)
      if (typeof output !== 'string') return { problem: `expected a string, found ${kindOf(output)}` }
      return { value: { output } }
    },
  }
}

/** @throws {CtError} `ERR_CALL_INVALID` when the input has more bytes than a handler takes */
export function refuseLarge(bytes: Uint8Array, name: string): void {
  if (bytes.length <= MAX_INPUT_BYTES) return
  throw new CtError(
    'ERR_CALL_INVALID',
    // The original's words to the character, issue number included: scripts match them.
    `service \`${name}\` too large: ${bytes.length} bytes exceeds the ${MAX_INPUT_BYTES}-byte cap (#183)`,
    { detail: { bytes: bytes.length, maxBytes: MAX_INPUT_BYTES } },
  )
}

/** @throws {CtError} `ERR_CALL_INVALID` */
function readText(args: unknown): HandlerInput {
  const input = typeof args === 'object' && args !== null && 'input' in args ? args.input : undefined
  if (typeof input !== 'string') {
    throw new CtError('ERR_CALL_INVALID', 'this service requires a string `input` (fixed schema — no free-form slot)')
  }
  // Half a surrogate pair has no UTF-8 form; the handler would silently get another text.
  if (!input.isWellFormed()) {
    throw new CtError('ERR_CALL_INVALID', 'expected `input` to be valid Unicode, found half a surrogate pair')
  }
  const bytes = encodeUtf8(input)
  refuseLarge(bytes, 'input')
  return { bytes, json: () => JSON.stringify(input) }
}
