/**
 * The settings file: `NAME=value` lines, read below flags and environment.
 *
 * @module
 */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { type Env } from '../core/env.ts'
import { CtError } from '../core/errors.ts'

const OTHERS = 0o077
const MAX_CONFIG_BYTES = 1_048_576

/**
 * @param secretNames variables whose presence makes the file a secret: then others must not be able to read it
 * @throws {CtError} `ERR_CONFIG_INVALID`
 */
export function readConfigFile(path: string, secretNames: ReadonlySet<string>): Env {
  const { text, mode } = readText(path)
  const settings = parseEnv(text)
  const secret = Object.keys(settings).find((name) => secretNames.has(name))
  if (secret !== undefined && process.platform !== 'win32' && (mode & OTHERS) !== 0) {
    throw refused(
      `${path} holds ${secret} but others can read it: expected mode 600, found ${(mode & 0o777).toString(8)}`,
    )
  }
  return settings
}

function readText(path: string): { text: string; mode: number } {
  let file: number | undefined
  try {
    file = openSync(path, 'r')
    const status = fstatSync(file)
    // Shells pass a command's output as a pipe; a device may have no end.
    if (!status.isFile() && !status.isFIFO()) throw new Error('expected a file')
    return { text: readAll(file), mode: status.mode }
  } catch (error) {
    throw refused(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`, error)
  } finally {
    if (file !== undefined) closeSync(file)
  }
}

function readAll(file: number): string {
  const bytes = Buffer.alloc(MAX_CONFIG_BYTES + 1)
  let length = 0
  for (let found = -1; found !== 0 && length <= MAX_CONFIG_BYTES; length += found) {
    found = readSync(file, bytes, length, bytes.length - length, null)
  }
  if (length > MAX_CONFIG_BYTES) throw new Error(`expected at most ${MAX_CONFIG_BYTES} bytes, found more`)
  return bytes.toString('utf8', 0, length)
}

function refused(problem: string, cause?: unknown): CtError {
  return new CtError('ERR_CONFIG_INVALID', `CT_CONFIG_FILE invalid (a path): ${problem}`, {
    cause,
    detail: { variables: ['CT_CONFIG_FILE'] },
  })
}
