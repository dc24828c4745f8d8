/**
 * Files that a command writes for others to read.
 *
 * Holds: a reader sees the old content or the new, never a part. Nothing but a regular file is ever replaced.
 *
 * @module
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { quote } from '../core/env.ts'
import { CtError } from '../core/errors.ts'

/**
 * Writes the text, replacing the file that was there; through a link, the file that it leads to.
 *
 * @param unique distinguishes writers of the same path, so that two processes do not share a temporary file
 * @throws {CtError} `ERR_USAGE`
 */
export function writeOutput(path: string, text: string, unique: string): void {
  let temporary: string | undefined
  try {
    const target = targetOf(path)
    const own = `${target}.${unique}.tmp`
    const file = openSync(own, 'wx')
    temporary = own
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, target)
  } catch (error) {
    if (temporary !== undefined) rmSync(temporary, { force: true })
    throw unwritable(path, error)
  }
}

/**
 * Refuses at once what {@link writeOutput} could not write later. What is there stays as it is.
 *
 * @throws {CtError} `ERR_USAGE`
 */
export function refuseUnwritable(path: string, unique: string): void {
  try {
    const probe = `${targetOf(path)}.${unique}.tmp`
    closeSync(openSync(probe, 'wx'))
    rmSync(probe)
  } catch (error) {
    throw unwritable(path, error)
  }
}

/**
 * Writes a file of this very name. A link of that name is not followed.
 *
 * @param force replaces what is there; without it, what is there stays, and nothing is written
 * @returns false when something is there
 * @throws {CtError} `ERR_USAGE`
 */
export function createOutput(
  path: string,
  bytes: Uint8Array,
  { force, unique }: { readonly force: boolean; readonly unique: string },
): boolean {
  const first = force ? `${path}.${unique}.tmp` : path
  let isOwn = false
  try {
    const file = openSync(first, 'wx')
    isOwn = true
    try {
      writeFileSync(file, bytes)
    } finally {
      closeSync(file)
    }
    if (force) renameSync(first, path)
    return true
  } catch (error) {
    if (isOwn) rmSync(first, { force: true })
    else if (!force && error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw unwritable(path, error)
  }
}

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true
}

/** Makes the folder and those above it. @throws {CtError} `ERR_USAGE` */
export function makeOutputFolder(path: string): void {
  try {
    makeFolder(path)
  } catch (error) {
    throw unwritable(path, error)
  }
}

// Level by level: Node's own recursive creation never returns where a parent cannot exist, such as below /proc.
function makeFolder(path: string): void {
  if (isFolder(path)) return
  const parent = dirname(path)
  if (parent !== path && !existsSync(parent)) makeFolder(parent)
  mkdirSync(path)
}

function targetOf(path: string): string {
  const status = statSync(path, { throwIfNoEntry: false })
  if (status === undefined) return path
  if (!status.isFile())
    throw new Error(`expected a file, found ${status.isDirectory() ? 'a folder' : 'something else'}`)
  return realpathSync(path)
}

function unwritable(path: string, cause: unknown): CtError {
  const problem = cause instanceof Error ? cause.message : String(cause)
  return new CtError('ERR_USAGE', `cannot write ${quote(path)}: ${problem}`, { cause })
}
