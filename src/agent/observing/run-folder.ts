/**
 * The folder of sockets by which running agents can be asked: one socket for each, for their user alone.
 *
 * @module
 */
import { chmodSync, lstatSync, mkdirSync, readdirSync, rmSync } from 'node:fs'
import { CtError } from '../../core/errors.ts'
import { type InstanceId, shortId } from '../../core/ids.ts'
import { refuseOpenFolder } from '../../core/secret-file.ts'

/** What systems allow for the path of a socket, the least of them: 104 with the byte at its end. */
const MAX_PATH_BYTES = 103
/** More agents than one user has uses for in one folder. */
export const MAX_SOCKETS = 64
const OWNER_ONLY_DIRECTORY = 0o700
const OWNER_ONLY_FILE = 0o600
const OTHERS = 0o077
const FOLDER = 'run'
const ENDING = '.sock'
const NAME_CHARS = 10
const MAX_STATE_DIR_BYTES = MAX_PATH_BYTES - `/${FOLDER}/`.length - NAME_CHARS - ENDING.length

/**
 * @param run names this run: process ids repeat, and containers that share a folder have the same ones
 * @throws {CtError} `ERR_STATE_UNAVAILABLE` where there can be no such socket
 */
export function socketPath(stateDir: string, run: InstanceId): string {
  refuseUnfit(stateDir)
  return `${folderOf(stateDir)}/${shortId(run)}${ENDING}`
}

/** Makes the folder, and refuses one that others can get into. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export function ensureRunFolder(stateDir: string): void {
  const folder = folderOf(stateDir)
  refuseOpenFolder(stateDir)
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_DIRECTORY })
  } catch (error) {
    throw unavailable(error instanceof Error ? error.message : String(error), error)
  }
  const status = lstatSync(folder)
  if (!status.isDirectory() || (status.mode & OTHERS) !== 0 || status.uid !== process.geteuid?.()) {
    throw unavailable(`expected a folder of this user alone (mode 700), found something else at ${folder}`)
  }
}

/** Sockets of agents that run, and of some that do not any more. @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export function socketsIn(stateDir: string): readonly string[] {
  refuseUnfit(stateDir)
  try {
    const folder = folderOf(stateDir)
    const names = readdirSync(folder).filter((name) => name.endsWith(ENDING))
    return names.slice(0, MAX_SOCKETS).map((name) => `${folder}/${name}`)
  } catch {
    return []
  }
}

export function closeToOthers(socket: string): void {
  chmodSync(socket, OWNER_ONLY_FILE)
}

export function removeSocket(socket: string): void {
  try {
    rmSync(socket, { force: true })
  } catch {
    // It stays, and is looked at again the next time.
  }
}

function refuseUnfit(stateDir: string): void {
  if (process.platform === 'win32') throw unavailable('there are no sockets of this kind on Windows')
  const length = Buffer.byteLength(stateDir)
  if (length <= MAX_STATE_DIR_BYTES) return
  throw unavailable(`expected a state folder whose path has at most ${MAX_STATE_DIR_BYTES} bytes, found ${length}`)
}

function folderOf(stateDir: string): string {
  return `${stateDir}/${FOLDER}`
}

function unavailable(reason: string, cause?: unknown): CtError {
  return new CtError('ERR_STATE_UNAVAILABLE', `no agent of this state folder can be asked for its status: ${reason}`, {
    cause,
  })
}
