/**
 * Finds where the chain of an audit log stands, from the end of its file.
 *
 * @module
 */
import { type FileHandle } from 'node:fs/promises'
import { CHAIN_START, type ChainHead, isCutLine, MAX_TORN_BYTES, readAuditLine } from './audit-line.ts'

export interface AuditTail {
  /** The last line that is as it was written; none where there is none in the whole file. */
  readonly head: ChainHead | undefined
  /** The beginning of a line that was never finished, after those of earlier ones that nothing was written behind. */
  readonly torn: Buffer | undefined
  /** The last line has no line feed. */
  readonly isOpen: boolean
}

/** The last line that is whole is hardly ever further from the end. */
const WINDOW_BYTES = MAX_TORN_BYTES
const LINE_FEED = 10

export async function readTail(file: FileHandle, size: number): Promise<AuditTail> {
  const length = Math.min(size, WINDOW_BYTES)
  const window = Buffer.alloc(length)
  await file.read(window, 0, length, size - length)
  let feed = window.lastIndexOf(LINE_FEED)
  const rest = window.subarray(feed + 1)
  const isOpen = rest.length > 0
  const last = readAuditLine(rest)
  if (last !== undefined) return { head: last, torn: undefined, isOpen }
  let isCut = isOpen && isCutLine(rest)
  let from = isCut ? feed + 1 : length
  const torn = (): Buffer | undefined => (from < length ? window.subarray(from) : undefined)
  while (feed >= 0) {
    const start = feed === 0 ? 0 : window.lastIndexOf(LINE_FEED, feed - 1) + 1
    const bytes = window.subarray(start, feed)
    const line = readAuditLine(bytes)
    if (line !== undefined) return { head: line, torn: torn(), isOpen }
    isCut &&= isCutLine(bytes)
    if (isCut) from = start
    feed = start - 1
  }
  return { head: size > length ? CHAIN_START : undefined, torn: torn(), isOpen }
}
