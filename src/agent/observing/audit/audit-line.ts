/**
 * One line of the audit log: JSON, chained to the line before it by hashes.
 *
 * A line ends in `,"prev":"…","hash":"…"}`: the hash of the line before, and the SHA-256 of all bytes of this line before
 * `,"hash"`. So a changed byte shows in the line itself, and a line that is missing or moved in the one after it.
 *
 * @module
 */
import { hash } from 'node:crypto'

/** What is told of an event: names, numbers and codes of ours, never what a peer sent. */
export type AuditFacts = Readonly<Record<string, string | number | boolean | undefined>>

export interface AuditEntry {
  readonly event: string
  /** Unix time in milliseconds. */
  readonly at: number
  readonly facts: AuditFacts
}

/** Where a chain stands: its last line. */
export interface ChainHead {
  readonly sequence: number
  readonly hash: string
}

export const CHAIN_START: ChainHead = { sequence: 0, hash: '0'.repeat(64) }

/** Far above any line of ours. */
export const MAX_LINE_BYTES = 4_096
/** Of lines that were cut off one after the other, with the line feeds between them. */
export const MAX_TORN_BYTES: number = 16 * MAX_LINE_BYTES

const HASH_CHARS = 64
const PREV_MARK = ',"prev":"'
const HASH_MARK = '","hash":"'
const END_MARK = '"}'
const SEQUENCE_MARK = '{"seq":'
const TAIL_BYTES = PREV_MARK.length + HASH_CHARS + HASH_MARK.length + HASH_CHARS + END_MARK.length
const HASH_MARK_AT = PREV_MARK.length + HASH_CHARS
const HASH_AT = HASH_MARK_AT + HASH_MARK.length
/** Of `,"hash":"…"}`, which no hash covers. */
const UNCOVERED_BYTES = HASH_MARK.length - 1 + HASH_CHARS + END_MARK.length
const RECOVERED = 'recovered'

export interface WrittenLine {
  /** With its line feed. */
  readonly text: string
  readonly head: ChainHead
}

/** The line of an event that follows the head. */
export function auditLine(previous: ChainHead, run: string, { event, at, facts }: AuditEntry): WrittenLine {
  const sequence = previous.sequence + 1
  const time = new Date(at).toISOString()
  const whole = JSON.stringify({ seq: sequence, time, run, event, ...facts })
  const isShort = Buffer.byteLength(whole) + TAIL_BYTES <= MAX_LINE_BYTES
  const members = isShort ? whole : JSON.stringify({ seq: sequence, time, run, event, too_long: true })
  const covered = `${members.slice(0, -1)}${PREV_MARK}${previous.hash}"`
  const own = hash('sha256', covered)
  return { text: `${covered},"hash":"${own}"}\n`, head: { sequence, hash: own } }
}

export interface ReadLine extends ChainHead {
  readonly previous: string
  /** It notes that a line before it was cut off. */
  readonly isRecovery: boolean
}

/** A line without its line feed, when it is one of ours and no byte of it was changed. */
export function readAuditLine(line: Buffer): ReadLine | undefined {
  const { length } = line
  if (length > MAX_LINE_BYTES || length < TAIL_BYTES + SEQUENCE_MARK.length + 1) return undefined
  const tail = tailOf(line)
  const own = tail.slice(HASH_AT, HASH_AT + HASH_CHARS)
  if (!hasMarks(tail) || hash('sha256', line.subarray(0, length - UNCOVERED_BYTES)) !== own) return undefined
  const [, digits, event] = BEGINNING.exec(line.toString('latin1', 0, MAX_BEGINNING_BYTES)) ?? []
  if (digits === undefined) return undefined
  return {
    sequence: Number(digits),
    hash: own,
    previous: tail.slice(PREV_MARK.length, HASH_MARK_AT),
    isRecovery: event === RECOVERED,
  }
}

/** It lacks its end. What has one and is no line was changed. */
export function isCutLine(line: Buffer): boolean {
  return !hasMarks(tailOf(line))
}

function tailOf(line: Buffer): string {
  return line.toString('latin1', Math.max(0, line.length - TAIL_BYTES))
}

function hasMarks(tail: string): boolean {
  return tail.startsWith(PREV_MARK) && tail.startsWith(HASH_MARK, HASH_MARK_AT) && tail.endsWith(END_MARK)
}

const BEGINNING = /^\{"seq":([1-9]\d{0,14}),"time":"[^"]*","run":"[^"]*","event":"([^"]*)"/
const MAX_BEGINNING_BYTES = 160

/** The entry that notes that a line before it was cut off, by a crash or a full disk, or several lines in a row. */
export function recoveredEntry(torn: Buffer, at: number): AuditEntry {
  return { event: RECOVERED, at, facts: { torn_bytes: torn.length, torn_hash: hash('sha256', torn) } }
}

/** True when the line notes that just these bytes were cut off. */
export function recovers(line: Buffer, torn: Buffer): boolean {
  return line.includes(`"event":"${RECOVERED}","torn_bytes":${torn.length},"torn_hash":"${hash('sha256', torn)}"`)
}
