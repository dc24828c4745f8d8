/**
 * The audit log as files: the one that is written, and those before it, `.1` the newest.
 *
 * Holds: what is written is added at the end, in one write a batch, by one process at a time; nothing that was written is
 * ever changed. A line that was cut off stays, and is noted in the next one. A batch that did not get through whole says
 * how much of it did.
 *
 * @module
 */
import { constants, existsSync } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { CtError, toCtError } from '../../../core/errors.ts'
import { ensureOwnFile } from '../../../core/secret-file.ts'
import { type Clock } from '../../../core/time.ts'
import { type AuditEntry, auditLine, CHAIN_START, type ChainHead, recoveredEntry } from './audit-line.ts'
import { readTail } from './audit-tail.ts'
import { FileLock } from './file-lock.ts'

/** A file that has so much is put aside. */
export const MAX_FILE_BYTES = 32 * 1024 * 1024
/** Files that were put aside; of the oldest one more is removed. */
export const KEPT_FILES = 7
/** Another process holds the lock for one batch at a time. */
const LOCK_MS = 3_000
/** Not through a link, and no waiting for the reader of a pipe. */
const FLAGS =
  constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)
const OWNER_ONLY = 0o600

/** What became of a batch. */
export interface Appended {
  /** Entries that are in the file. */
  readonly written: number
  /** Why it were not all. */
  readonly failure?: CtError
}

export class AuditFile {
  readonly #path: string
  readonly #run: string
  readonly #clock: Clock
  readonly #maxBytes: number
  #lock: FileLock | undefined
  /** Where the chain stood when this process had written last. */
  #left: { readonly inode: number; readonly size: number; readonly head: ChainHead } | undefined

  /** @param run names this run of the program in every line */
  constructor(path: string, run: string, clock: Clock, maxBytes = MAX_FILE_BYTES) {
    this.#path = path
    this.#run = run
    this.#clock = clock
    this.#maxBytes = maxBytes
  }

  get path(): string {
    return this.#path
  }

  /** The last line that this process wrote. */
  get head(): ChainHead | undefined {
    return this.#left?.head
  }

  async append(entries: readonly AuditEntry[]): Promise<Appended> {
    try {
      const lock = await this.#locked()
      try {
        return await this.#appendLocked(entries)
      } finally {
        lock.release()
      }
    } catch (error) {
      this.#left = undefined
      return { written: 0, failure: toCtError(error, 'ERR_STATE_UNAVAILABLE') }
    }
  }

  close(): void {
    this.#lock?.close()
    this.#lock = undefined
  }

  async #locked(): Promise<FileLock> {
    this.#lock ??= await FileLock.open(lockPath(this.#path))
    if (await this.#lock.takeWithin(LOCK_MS, this.#clock)) return this.#lock
    throw new CtError('ERR_STATE_UNAVAILABLE', 'another process has been writing the audit log for too long')
  }

  async #appendLocked(entries: readonly AuditEntry[]): Promise<Appended> {
    let file = await openOwn(this.#path)
    try {
      let { size, ino } = await file.stat()
      const tail = await this.#tail(file, size, ino)
      let { head } = tail
      if (size > 0 && size >= this.#maxBytes) {
        await file.close()
        await putAside(this.#path)
        file = await openOwn(this.#path)
        ;({ size, ino } = await file.stat())
      }
      const notes = tail.torn === undefined ? [] : [recoveredEntry(tail.torn, this.#clock.now())]
      const ends: number[] = []
      let text = tail.isOpen && size > 0 ? '\n' : ''
      let bytesSoFar = text.length
      for (const entry of [...notes, ...entries]) {
        const line = auditLine(head, this.#run, entry)
        text += line.text
        head = line.head
        bytesSoFar += Buffer.byteLength(line.text)
        ends.push(bytesSoFar)
      }
      const { bytes, failure } = await writeAll(file, Buffer.from(text))
      const whole = ends.filter((end) => end <= bytes).length
      this.#left = failure === undefined ? { inode: ino, size: size + bytes, head } : undefined
      const written = Math.max(0, whole - notes.length)
      return failure === undefined ? { written } : { written, failure }
    } finally {
      await file.close()
    }
  }

  /** What others wrote since is read; else it is known. */
  async #tail(file: FileHandle, size: number, inode: number) {
    const left = this.#left
    if (left?.inode === inode && left.size === size) return { head: left.head, torn: undefined, isOpen: false }
    const { head, ...tail } = await readTail(file, size)
    return { ...tail, head: head ?? (await this.#headBefore()) }
  }

  /** Of a file that was begun anew: the chain goes on from the one that was put aside. */
  async #headBefore(): Promise<ChainHead> {
    const before = asidePath(this.#path, 1)
    if (!existsSync(before)) return CHAIN_START
    const aside = await open(before, 'r')
    try {
      return (await readTail(aside, (await aside.stat()).size)).head ?? CHAIN_START
    } finally {
      await aside.close()
    }
  }
}

/** Beside the log, for as long as it is written or read as a whole. */
export function lockPath(path: string): string {
  return `${path}.lock`
}

/** A file that was put aside, 1 the newest. */
function asidePath(path: string, number: number): string {
  return `${path}.${number}`
}

/** All of them that are there, oldest first; the one that is written to last, be it there or not. */
export function auditFiles(path: string): readonly string[] {
  const aside = Array.from({ length: KEPT_FILES }, (_, index) => asidePath(path, KEPT_FILES - index))
  return [...aside.filter((file) => existsSync(file)), path]
}

async function openOwn(path: string): Promise<FileHandle> {
  ensureOwnFile(path)
  return open(path, FLAGS, OWNER_ONLY)
}

async function putAside(path: string): Promise<void> {
  await rm(asidePath(path, KEPT_FILES), { force: true })
  for (let number = KEPT_FILES - 1; number >= 1; number -= 1) {
    if (existsSync(asidePath(path, number))) await rename(asidePath(path, number), asidePath(path, number + 1))
  }
  await rename(path, asidePath(path, 1))
}

/** How many bytes there was room for. */
async function writeAll(
  file: FileHandle,
  bytes: Buffer,
): Promise<{ readonly bytes: number; readonly failure?: CtError }> {
  let offset = 0
  try {
    while (offset < bytes.length) {
      const { bytesWritten } = await file.write(bytes, offset, bytes.length - offset)
      offset += bytesWritten
    }
    return { bytes: offset }
  } catch (error) {
    return { bytes: offset, failure: toCtError(error, 'ERR_STATE_UNAVAILABLE') }
  }
}
