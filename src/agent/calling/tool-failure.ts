/**
 * A result that says that the tool failed.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { isPeerErrorCode } from '../../core/peer-codes.ts'
import { printable } from '../../core/printable.ts'

const MAX_MESSAGE_CHARS = 2_000

/** What the command ends in; nothing for a success. A code of ours that the peer gives is taken from it. */
export function toolFailure(result: JsonValue): CtError | undefined {
  if (!isJsonObject(result) || result['isError'] !== true) return undefined
  const facts = objectIn(objectIn(result['_meta'])['ct-agent/error'] ?? result['structuredContent'])
  const { code } = facts
  const known = isPeerErrorCode(code) ? code : 'ERR_TOOL_FAILED'
  return new CtError(known, `the tool failed: ${firstText(result['content'])}`)
}

function objectIn(value: JsonValue | undefined): Readonly<Record<string, JsonValue>> {
  return value !== undefined && isJsonObject(value) ? value : {}
}

function firstText(content: JsonValue | undefined): string {
  const blocks: readonly JsonValue[] = Array.isArray(content) ? content : []
  const text = blocks.map((block) => objectIn(block)['text']).find((found) => typeof found === 'string')
  return typeof text === 'string' && text !== '' ? printable(text, MAX_MESSAGE_CHARS) : 'it did not say why'
}
