/**
 * Files only their owner may read, replaced in one step.
 *
 * Holds: a reader sees the old content or the new, never a part. A file that others can read, that another user owns,
 * or that lies in a folder others can write is refused, not used: they could read or replace it.
 *
 * @module
 */
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { CtError } from './errors.ts'

const OWNER_ONLY_FILE = 0o600
const OWNER_ONLY_DIRECTORY = 0o700
const OTHERS = 0o077
const OTHERS_WRITE = 0o022
const ROOT = 0
/** Far above any secret of ours; a larger file is not one of them. */
const MAX_SECRET_FILE_BYTES = 65_536
/** Opening a named pipe would otherwise wait for somebody to write into it. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)

/**
 * Writes the text with mode 0600, replacing what was there. The folder is made with mode 0700 if need be.
 *
 * @param unique distinguishes writers of the same path, so that two processes do not share a temporary file
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export function writeSecretFile(path: string, text: string, unique: string): void {
  throughTemporary(path, text, unique, (temporary) => renameSync(temporary, path))
}

/**
 * Writes the text unless the file exists, into a folder that nobody else can write. Of several writers at once one wins, and all get what that one wrote.
 *
 * @returns the text that the file holds now
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export function createSecretFile(path: string, text: string, unique: string): string {
  let created = true
  refuseOpenFolder(dirname(path))
  throughTemporary(path, text, unique, (temporary) => {
    try {
      linkSync(temporary, path)
    } catch (error) {
      if (errorCodeOf(error) !== 'EEXIST') throw error
      created = false
    }
    rmSync(temporary)
  })
  return created ? text : (readSecretFile(path) ?? text)
}

/**
 * Names of the files in the folder that end so, without the ending; none when there is no folder.
 *
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export function secretFilesIn(path: string, ending: string): readonly string[] {
  try {
    refuseOpenFolder(path)
    const names = readdirSync(path).filter((name) => name.endsWith(ending))
    return names.map((name) => name.slice(0, -ending.length)).sort()
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return []
    throw error instanceof CtError ? error : unreadable(path, error)
  }
}

/**
 * Gives the file another name in the same folder, unless there is one of that name. At no time it has none.
 *
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export function renameSecretFile(from: string, to: string): 'renamed' | 'taken' | 'missing' {
  try {
    linkSync(from, to)
    rmSync(from, { force: true })
    return 'renamed'
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return 'taken'
    if (errorCodeOf(error) === 'ENOENT') return 'missing'
    throw unwritable(to, error)
  }
}

/** False when there was none. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export function removeSecretFile(path: string): boolean {
  try {
    rmSync(path)
    return true
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false
    throw unwritable(path, error)
  }
}

function throughTemporary(path: string, text: string, unique: string, publish: (temporary: string) => void): void {
  const temporary = `${path}.${unique}.tmp`
  try {
    makeFolder(dirname(path))
    const file = openSync(temporary, 'wx', OWNER_ONLY_FILE)
    try {
      writeFileSync(file, text)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    chmodSync(temporary, OWNER_ONLY_FILE)
    publish(temporary)
  } catch (error) {
    removeIfPossible(temporary)
    throw unwritable(path, error)
  }
}

// Level by level: Node's own recursive creation never returns where a parent cannot exist, such as below /proc.
function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: OWNER_ONLY_DIRECTORY })
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return
    const parent = dirname(path)
    if (errorCodeOf(error) !== 'ENOENT' || parent === path || existsSync(parent)) throw error
    makeFolder(parent)
    makeFolder(path)
  }
}

// The failure that led here is the one to report: below something that is no folder, even removing fails.
function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true })
  } catch {}
}

/**
 * Refuses a folder in which others could replace a file. One that does not exist is made for its owner alone.
 *
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export function refuseOpenFolder(path: string): void {
  const status = process.platform === 'win32' ? undefined : statSync(path, { throwIfNoEntry: false })
  if (status === undefined) return
  if (status.uid !== process.geteuid?.() && status.uid !== ROOT) {
    throw unusable(path, `it belongs to user ${status.uid}; choose a folder of your own`)
  }
  if ((status.mode & OTHERS_WRITE) !== 0) {
    throw unusable(path, `others can write it (mode ${modeOf(status.mode)}); run chmod go-w on it`)
  }
}

/**
 * Text of the file, or `undefined` when there is none.
 *
 * @throws {CtError} `ERR_STATE_UNAVAILABLE` when it cannot be read, is no regular file, is too large, is not this
 * user's, or others may read or replace it
 */
export function readSecretFile(path: string): string | undefined {
  let file: number
  try {
    file = openSync(path, READ_WITHOUT_WAITING)
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined
    throw unreadable(path, error)
  }
  try {
    refuseOpenFolder(dirname(path))
    const status = fstatSync(file)
    if (!status.isFile()) throw unusable(path, 'it is not a regular file')
    if (status.size > MAX_SECRET_FILE_BYTES)
      throw unusable(path, `expected at most ${MAX_SECRET_FILE_BYTES} bytes, found ${status.size}`)
    if (process.platform !== 'win32') refuseOthers(path, status)
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof CtError) throw error
    throw unreadable(path, error)
  } finally {
    closeSync(file)
  }
}

/**
 * Makes an empty file unless there is one: for what is opened by a library, which then finds one that others can
 * neither read nor replace.
 *
 * @throws {CtError} `ERR_STATE_UNAVAILABLE`
 */
export function ensureOwnFile(path: string): void {
  try {
    makeFolder(dirname(path))
    refuseOpenFolder(dirname(path))
    createUnlessThere(path)
    const status = statSync(path)
    if (!status.isFile()) throw unusable(path, 'it is not a regular file')
    if (process.platform !== 'win32') refuseOthers(path, status)
  } catch (error) {
    throw error instanceof CtError ? error : unreadable(path, error)
  }
}

// A file that is there is not opened: closing it would drop every lock that the library holds on it in this process.
function createUnlessThere(path: string): void {
  try {
    const file = openSync(path, 'wx', OWNER_ONLY_FILE)
    try {
      fchmodSync(file, OWNER_ONLY_FILE)
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (errorCodeOf(error) !== 'EEXIST') throw error
  }
}

function refuseOthers(path: string, { mode, uid }: Stats): void {
  const own = process.geteuid?.()
  if (uid !== own) {
    throw unusable(path, `expected a file of user ${own}, found one of user ${uid}; run chown on it, or remove it`)
  }
  if ((mode & OTHERS) !== 0) throw unusable(path, `expected mode 600, found ${modeOf(mode)}; run chmod 600 on it`)
}

function modeOf(mode: number): string {
  return (mode & 0o777).toString(8)
}

function unreadable(path: string, cause: unknown): CtError {
  return new CtError('ERR_STATE_UNAVAILABLE', `cannot read ${path}: ${reasonOf(cause)}`, { cause, detail: { path } })
}

function unwritable(path: string, cause: unknown): CtError {
  return new CtError('ERR_STATE_UNAVAILABLE', `cannot write ${path}: ${reasonOf(cause)}`, { cause, detail: { path } })
}

function unusable(path: string, reason: string): CtError {
  return new CtError('ERR_STATE_UNAVAILABLE', `cannot use ${path}: ${reason}`, { detail: { path } })
}

function errorCodeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
