/**
 * A call that can be awaited and iterated over.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { type Content, type Progress, type ToolCall, type ToolResult } from './api.ts'
import { Updates } from './updates.ts'

/** @param run resolves with the result as the peer wrote it */
export function toolCall(run: (onProgress: (progress: Progress) => void) => Promise<JsonValue>): ToolCall {
  const updates = new Updates()
  const result = run((progress) => updates.push(progress))
    .then(readToolResult)
    .finally(() => updates.end())
  return Object.assign(result, {
    [Symbol.asyncIterator]: () => {
      // Whoever iterates awaits the result afterwards, or hears of its failure here.
      result.catch(() => {})
      return until(updates, result)
    },
  })
}

async function* until(updates: Updates, result: Promise<unknown>): AsyncGenerator<Progress, void, undefined> {
  yield* updates
  await result
}

/** @throws {CtError} `ERR_PROTOCOL` for what is no result of a tool */
export function readToolResult(value: JsonValue): ToolResult {
  if (!isJsonObject(value)) throw new CtError('ERR_PROTOCOL', 'expected the result of a tool, found something else')
  const { content = [], isError, structuredContent } = value
  if (!Array.isArray(content) || !content.every(isContent)) {
    throw new CtError('ERR_PROTOCOL', 'expected the content of a result as a list of blocks, found something else')
  }
  return {
    content,
    isError: isError === true,
    ...(structuredContent === undefined ? {} : { structuredContent }),
  }
}

function isContent(block: JsonValue): block is JsonValue & Content {
  return isJsonObject(block) && typeof block['type'] === 'string'
}
