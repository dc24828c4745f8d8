/**
 * Reads an audit log, with the files that were put aside before it, and says whether it is as it was written.
 *
 * @module
 */
import { existsSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { basename } from 'node:path'
import { CtError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time.ts'
import { AuditChain, type ChainFault } from './audit-chain.ts'
import { auditFiles, KEPT_FILES, lockPath } from './audit-file.ts'
import { MAX_LINE_BYTES } from './audit-line.ts'
import { FileLock } from './file-lock.ts'

const CHUNK_BYTES = 1024 * 1024
const LINE_FEED = 10
const LOCK_MS = 1_000

export interface AuditVerdict {
  readonly files: number
  readonly entries: number
  /** Numbers of the first and the last entry. */
  readonly first: number | undefined
  readonly last: number
  /** Hash of the last entry: whoever noted an earlier one can look for it. */
  readonly head: string
  /** Lines that a crash or a full disk cut off, and that are noted as such. */
  readonly recovered: number
  /** The last line is cut off, and nothing has been written since. */
  readonly isTorn: boolean
  /** The first line that is not as it was written. */
  readonly fault?: AuditFault
}

export interface AuditFault {
  readonly fault: ChainFault
  readonly problem: string
  readonly file: string
  /** From 1. */
  readonly line: number
}

interface Source {
  readonly path: string
  readonly handle: FileHandle
  /** What is written later is not looked at. */
  readonly size: number
}

/** @throws {CtError} `ERR_USAGE` when there is no such file, `ERR_STATE_UNAVAILABLE` */
export async function verifyAudit(path: string): Promise<AuditVerdict> {
  const sources = await openAll(path)
  try {
    const chain = new AuditChain(isWhole(path, sources))
    const begins: { readonly path: string; readonly lines: number }[] = []
    let isTorn = false
    for (const source of sources) {
      begins.push({ path: source.path, lines: chain.lines })
      const rest = await readInto(chain, source)
      if (source === sources.at(-1)) isTorn = chain.end(rest)
      else if (rest.length > 0) chain.add(rest)
      if (chain.isOver) break
    }
    const { problem, entries, first, head, recovered } = chain
    const verdict = {
      files: sources.length,
      entries,
      first,
      last: head.sequence,
      head: head.hash,
      recovered,
      isTorn,
    }
    if (problem === undefined) return verdict
    const at = begins.findLast(({ lines }) => lines < problem.line) ?? { path, lines: 0 }
    return { ...verdict, fault: { ...problem, file: at.path, line: problem.line - at.lines } }
  } finally {
    for (const { handle } of sources) await handle.close()
  }
}

/** Oldest first; of one moment, as far as nobody else holds the log for long. */
async function openAll(path: string): Promise<readonly Source[]> {
  const lock = await lockOf(path)
  try {
    const sources: Source[] = []
    for (const file of auditFiles(path)) sources.push(await openOne(file))
    return sources
  } finally {
    lock?.release()
    lock?.close()
  }
}

async function openOne(path: string): Promise<Source> {
  try {
    const handle = await open(path, 'r')
    return { path, handle, size: (await handle.stat()).size }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new CtError('ERR_USAGE', `cannot read the audit log: ${reason}`, { cause: error })
  }
}

/** Whoever may only read the log verifies it without the lock. */
async function lockOf(path: string): Promise<FileLock | undefined> {
  if (!existsSync(lockPath(path))) return undefined
  try {
    const lock = await FileLock.open(lockPath(path))
    await lock.takeWithin(LOCK_MS, systemClock)
    return lock
  } catch {
    return undefined
  }
}

/** Files are removed only when as many as are kept were put aside after them; one of them alone begins anywhere. */
function isWhole(path: string, sources: readonly Source[]): boolean {
  const [, number = '0'] = /\.([1-9]\d*)$/.exec(basename(path)) ?? []
  const isAside = number !== '0' && Number(number) <= KEPT_FILES
  return sources.length <= KEPT_FILES && !isAside
}

/** @returns what stands after the last line feed */
async function readInto(chain: AuditChain, { handle, size }: Source): Promise<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES)
  let rest = Buffer.alloc(0)
  for (let at = 0; at < size; ) {
    const { bytesRead } = await handle.read(chunk, 0, Math.min(CHUNK_BYTES, size - at), at)
    if (bytesRead === 0) break
    at += bytesRead
    rest = addLines(
      chain,
      rest.length === 0 ? chunk.subarray(0, bytesRead) : Buffer.concat([rest, chunk.subarray(0, bytesRead)]),
    )
    if (chain.isOver) break
  }
  return rest
}

/** @returns the beginning of a line that goes on, as much of it as a line of ours can have */
function addLines(chain: AuditChain, bytes: Buffer): Buffer<ArrayBuffer> {
  let start = 0
  for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
    chain.add(bytes.subarray(start, end))
    start = end + 1
  }
  return Buffer.from(bytes.subarray(start, start + 2 * MAX_LINE_BYTES))
}
