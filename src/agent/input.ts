/**
 * Text that a command is given on stdin or in a file.
 *
 * @module
 */
import { createReadStream, existsSync, readFileSync, statSync } from 'node:fs'
import { decodeUtf8 } from '../core/bytes.ts'
import { quote } from '../core/env.ts'
import { CtError, isCtError } from '../core/errors.ts'

/** No peer can be set to accept a larger message, so more than this could not be sent. */
export const MAX_INPUT_BYTES = 268_435_456

/**
 * Reads to the end.
 *
 * @param name of the source, for messages
 * @throws {CtError} `ERR_MESSAGE_TOO_LARGE`; `ERR_USAGE` for bytes that are no UTF-8
 */
export async function readText(source: AsyncIterable<string | Uint8Array>, name: string): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of source) {
    const data = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    bytes += data.length
    if (bytes > MAX_INPUT_BYTES) {
      throw new CtError('ERR_MESSAGE_TOO_LARGE', `expected at most ${MAX_INPUT_BYTES} bytes in ${name}, found more`)
    }
    chunks.push(data)
  }
  const text = decodeUtf8(Buffer.concat(chunks, bytes))
  if (text === undefined) throw new CtError('ERR_USAGE', `expected UTF-8 text in ${name}`)
  return text
}

/**
 * Reads from a file that the command line names.
 *
 * @throws {CtError} `ERR_USAGE` when the file cannot be read
 */
export async function fromFile<Value>(
  path: string,
  read: (source: AsyncIterable<string | Uint8Array>) => Promise<Value>,
): Promise<Value> {
  try {
    return await read(createReadStream(path))
  } catch (error) {
    throw unreadable(quote(path), error)
  }
}

/**
 * The bytes of a file, or of stdin with `-`, as they are needed.
 *
 * @throws {CtError} `ERR_USAGE` when it cannot be read
 */
export async function* bytesOf(path: string, stdin: AsyncIterable<string | Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    const source: AsyncIterable<string | Uint8Array> = path === '-' ? stdin : createReadStream(path)
    for await (const piece of source) yield typeof piece === 'string' ? Buffer.from(piece) : piece
  } catch (error) {
    throw unreadable(nameOf(path), error)
  }
}

/** The text of a small file that a setting names. @throws {CtError} `ERR_USAGE` when it cannot be read */
export function readSettingFile(path: string): string {
  try {
    const { size } = statSync(path)
    if (size > MAX_SETTING_BYTES) throw new Error(`expected at most ${MAX_SETTING_BYTES} bytes, found ${size}`)
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw unreadable(quote(path), error)
  }
}

/** Hundreds of certificates. */
const MAX_SETTING_BYTES = 1_048_576

/** Something of this name is there, be it readable or not. */
export function isThere(path: string): boolean {
  return existsSync(path)
}

/** The file as messages name it. */
export function nameOf(path: string): string {
  return path === '-' ? 'stdin' : quote(path)
}

/** Refuses several sources that are stdin: there is one. @throws {CtError} `ERR_USAGE` */
export function refuseSharedStdin(files: readonly (string | undefined)[]): void {
  if (files.filter((file) => file === '-').length < 2) return
  throw new CtError('ERR_USAGE', 'expected one file from stdin, found more')
}

function unreadable(name: string, error: unknown): CtError {
  if (isCtError(error)) return error
  const problem = error instanceof Error ? error.message : String(error)
  return new CtError('ERR_USAGE', `cannot read ${name}: ${problem}`, { cause: error })
}
