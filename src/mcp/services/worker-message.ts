/**
 * What a worker writes, one JSON object a line.
 *
 * @module
 */
import { decodeUtf8 } from '../../core/bytes.ts'
import { isJsonObject, type JsonObject, type JsonValue, nestsTooDeep } from '../../core/json.ts'
import { memberText, skipBlanks } from '../../core/json-scan.ts'
import { printable } from '../../core/printable.ts'

export type WorkerMessage =
  | { readonly id: number; readonly kind: 'output'; readonly json: string }
  | { readonly id: number; readonly kind: 'error'; readonly message: string }
  | { readonly id: number; readonly kind: 'progress'; readonly value: JsonValue }

/** What a handler gives in answer: JSON text of its output, or its words about why there is none. */
export type HandlerAnswer =
  | { readonly kind: 'output'; readonly json: string }
  | { readonly kind: 'error'; readonly message: string }

const MAX_MESSAGE_CHARS = 1_000

/** `undefined` for what is no message. */
export function readWorkerMessage(line: Uint8Array): WorkerMessage | undefined {
  const read = readObject(line)
  if (read === undefined) return undefined
  const { id, progress } = read.object
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return undefined
  const answer = answerIn(read)
  if (answer !== undefined) return { id, ...answer }
  return progress === undefined ? undefined : { id, kind: 'progress', value: progress }
}

/** `undefined` for what is no answer. */
export function readAnswer(body: Uint8Array): HandlerAnswer | undefined {
  const read = readObject(body)
  return read === undefined ? undefined : answerIn(read)
}

interface Read {
  readonly text: string
  readonly object: JsonObject
}

function readObject(bytes: Uint8Array): Read | undefined {
  const text = decodeUtf8(bytes)
  if (text === undefined || nestsTooDeep(text)) return undefined
  try {
    const object: unknown = JSON.parse(text)
    return isJsonObject(object) ? { text, object } : undefined
  } catch {
    return undefined
  }
}

function answerIn({ text, object }: Read): HandlerAnswer | undefined {
  const { error, output } = object
  // As text, in which no integer has lost a digit.
  if (output !== undefined) {
    return { kind: 'output', json: memberText(text, skipBlanks(text, 0), 'output') ?? JSON.stringify(output) }
  }
  if (error === undefined) return undefined
  const message = isJsonObject(error) ? error['message'] : error
  return { kind: 'error', message: typeof message === 'string' ? printable(message, MAX_MESSAGE_CHARS) : 'no reason' }
}
