/**
 * The tool `service/<slug>`: text in, text out.
 *
 * @module
 */
import { encodeUtf8 } from '../../core/bytes.ts'
import { CtError } from '../../core/errors.ts'
import { type CallContext, type Tool } from '../tool.ts'
import { type Service } from './slug.ts'

/** Largest input, in UTF-8 bytes: the limit of the first implementation, which callers may rely on. */
export const MAX_INPUT_BYTES = 4_194_304

/** Runs the service on UTF-8 bytes and gives its output. */
export type RunService = (input: Uint8Array, context: CallContext) => Promise<string>

export function createServiceTool({ slug }: Service, run: RunService): Tool {
  return {
    name: `service/${slug}`,
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
    idempotent: false,
    call: async (args, context) => ({ output: await run(readInput(args), context) }),
  }
}

/** @throws {CtError} `ERR_CALL_INVALID` */
function readInput(args: unknown): Uint8Array {
  const input = typeof args === 'object' && args !== null && 'input' in args ? args.input : undefined
  if (typeof input !== 'string') {
    throw new CtError('ERR_CALL_INVALID', 'this service requires a string `input` (fixed schema — no free-form slot)')
  }
  // Half a surrogate pair has no UTF-8 form; the handler would silently get another text.
  if (!input.isWellFormed()) {
    throw new CtError('ERR_CALL_INVALID', 'expected `input` to be valid Unicode, found half a surrogate pair')
  }
  const bytes = encodeUtf8(input)
  if (bytes.length > MAX_INPUT_BYTES) {
    throw new CtError(
      'ERR_CALL_INVALID',
      // The original's words to the character, issue number included: scripts match them.
      `service \`input\` too large: ${bytes.length} bytes exceeds the ${MAX_INPUT_BYTES}-byte cap (#183)`,
      { detail: { bytes: bytes.length, maxBytes: MAX_INPUT_BYTES } },
    )
  }
  return bytes
}
