/**
 * Finds where the chain of an audit log stands, from the end of its file.
 *
 * @module
 */
import { type FileHandle } from 'node:fs/promises'
import { CHAIN_START, type ChainHead, MAX_LINE_BYTES, readAuditLine } from './audit-line.ts'

export interface AuditTail {
  /** The last line that is as it was written. */
  readonly head: ChainHead
  /** The beginning of a line that was never finished. */
  readonly torn: Buffer | undefined
  /** The last line has no line feed. */
  readonly isOpen: boolean
}

/** The last line that is whole is hardly ever further from the end. */
const WINDOW_BYTES = 16 * MAX_LINE_BYTES
const LINE_FEED = 10

export async function readTail(file: FileHandle, size: number): Promise<AuditTail> {
  const length = Math.min(size, WINDOW_BYTES)
  const window = Buffer.alloc(length)
  await file.read(window, 0, length, size - length)
  let end = window.lastIndexOf(LINE_FEED)
  const rest = window.subarray(end + 1)
  const last = readAuditLine(rest)
  if (last !== undefined) return { head: last, torn: undefined, isOpen: true }
  const torn = rest.length === 0 ? undefined : rest
  while (end >= 0) {
    const start = end === 0 ? -1 : window.lastIndexOf(LINE_FEED, end - 1)
    const line = readAuditLine(window.subarray(start + 1, end))
    if (line !== undefined) return { head: line, torn, isOpen: torn !== undefined }
    end = start
  }
  return { head: CHAIN_START, torn, isOpen: torn !== undefined }
}
