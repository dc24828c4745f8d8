/**
 * Documents that a command is given in a file or on stdin, read as they are needed.
 *
 * @module
 */
import { CtError, toCtError } from '../../core/errors.ts'
import { malformed } from '../../core/exact-json.ts'
import { bytesOf, nameOf } from '../input.ts'
import { type Io, notice } from '../io.ts'
import { type JsonDocument, JsonDocuments } from './json-documents.ts'

export interface DocumentSource {
  /** For messages. */
  readonly name: string
  /** @throws {CtError} `ERR_USAGE` when it cannot be read */
  readonly documents: AsyncIterable<JsonDocument>
}

/** The file, or stdin for `-` or for want of a file. */
export function documentsOf(io: Io, file = '-'): DocumentSource {
  // Somebody who forgot to name a file would wait for ever.
  if (file === '-' && io.stdin.isTTY === true) notice(io, 'ct-agent: reading from stdin')
  const name = nameOf(file)
  return { name, documents: split(bytesOf(file, io.stdin)) }
}

/**
 * The only document of the file, or of stdin for `-`, read as what it should be.
 *
 * @throws {CtError} as {@link onlyDocument} and as `parse`, naming the source
 */
export async function readOnly<Value>(
  io: Io,
  file: string | undefined,
  parse: (text: string) => Value,
): Promise<Value> {
  const source = documentsOf(io, file)
  const text = await onlyDocument(source)
  try {
    return parse(text)
  } catch (error) {
    throw inSource(source.name, toCtError(error))
  }
}

/**
 * The only document of the source.
 *
 * @throws {CtError} `ERR_ARTEFACT_INVALID` when there is none or more than one; as {@link DocumentSource}
 */
export async function onlyDocument({ name, documents }: DocumentSource): Promise<string> {
  let text: string | undefined
  for await (const document of documents) {
    if (text !== undefined) throw malformed(`${name}: expected one document, found more`)
    if ('problem' in document) throw inSource(name, document.problem)
    text = document.text
  }
  if (text === undefined) throw nothingIn(name)
  return text
}

export function nothingIn(name: string): CtError {
  return malformed(`${name}: expected a JSON document, found nothing`)
}

/** The same error, naming where what it speaks of came from. */
export function inSource(name: string, error: CtError): CtError {
  return new CtError(error.code, `${name}: ${error.message}`, { cause: error, detail: error.detail })
}

async function* split(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<JsonDocument> {
  const documents = new JsonDocuments()
  for await (const piece of bytes) yield* documents.push(piece)
  yield* documents.end()
}
