/**
 * Checks a chain of audit lines, one after the other, and finds the first that is not as it was written.
 *
 * A chain cannot show by itself that lines are missing at its end: whoever noted the last hash elsewhere can tell.
 *
 * @module
 */
import {
  CHAIN_START,
  type ChainHead,
  isCutLine,
  MAX_TORN_BYTES,
  type ReadLine,
  readAuditLine,
  recovers,
} from './audit-line.ts'

export type ChainFault =
  /** Its bytes are not those that were written. */
  | 'changed'
  /** Lines before it are gone. */
  | 'missing'
  /** It stands elsewhere than it was written. */
  | 'moved'
  /** It was written after another line than the one that stands before it. */
  | 'replaced'

export interface ChainProblem {
  /** From 1, over all lines that were read. */
  readonly line: number
  readonly fault: ChainFault
  readonly problem: string
}

export class AuditChain {
  #lines = 0
  #entries = 0
  #first: number | undefined
  #recovered = 0
  #head: ChainHead | undefined
  /** A line that is none, or several in a row; allowed when the next one says that they were cut off. */
  #torn: { readonly bytes: Buffer; readonly line: number; readonly isCut: boolean } | undefined
  /** Lines are missing before it, unless the next line shows that it was moved. */
  #ahead: ChainProblem | undefined
  #expectedBehind = 0
  #problem: ChainProblem | undefined

  /** @param isWhole the chain has to begin at its beginning: nothing of it was rotated away */
  constructor(isWhole: boolean) {
    if (isWhole) this.#head = CHAIN_START
  }

  get problem(): ChainProblem | undefined {
    return this.#problem ?? this.#ahead
  }

  /** The first fault is known. */
  get isOver(): boolean {
    return this.#problem !== undefined
  }

  get lines(): number {
    return this.#lines
  }

  get entries(): number {
    return this.#entries
  }

  /** Number of the first entry. */
  get first(): number | undefined {
    return this.#first
  }

  /** Lines that were cut off, and noted as such. */
  get recovered(): number {
    return this.#recovered
  }

  get head(): ChainHead {
    return this.#head ?? CHAIN_START
  }

  /** @param line without its line feed; bytes that the caller may overwrite afterwards */
  add(line: Buffer): void {
    if (this.isOver) return
    this.#lines += 1
    const read = readAuditLine(line)
    if (read === undefined) {
      this.#tear(line)
      return
    }
    if (this.#ahead !== undefined) {
      this.#problem = read.sequence === this.#expectedBehind ? moved(this.#ahead.line) : this.#ahead
      return
    }
    if (this.#passesTorn(line, read)) this.#follow(read)
  }

  /** @returns true when the last bytes are the beginning of a line that was never finished */
  end(rest: Buffer): boolean {
    const isLine = rest.length > 0 && readAuditLine(rest) !== undefined
    if (isLine) this.add(rest)
    // Of one that was cut off while it noted another nothing more is known yet.
    const goesOn = rest.length > 0 && !isLine && isCutLine(rest)
    if (this.#torn !== undefined && !(goesOn && this.#torn.isCut)) this.#fail('changed', this.#torn.line)
    this.#problem ??= this.#ahead
    return rest.length > 0 && !isLine
  }

  #tear(line: Buffer): void {
    const before = this.#torn
    const parts = before === undefined ? [line] : [before.bytes, LINE_FEED, line]
    const isCut = before?.isCut !== false && isCutLine(line)
    const first = before?.line ?? this.#lines
    // Before it is copied: whoever changed the log may have left out line feeds.
    if (parts.reduce((sum, { length }) => sum + length, 0) > MAX_TORN_BYTES) this.#fail('changed', first)
    else this.#torn = { bytes: Buffer.concat(parts), line: first, isCut }
  }

  /** What was cut off is followed by its note, and a note follows what was cut off. */
  #passesTorn(line: Buffer, { isRecovery }: ReadLine): boolean {
    const torn = this.#torn
    if (torn === undefined && !isRecovery) return true
    if (torn !== undefined && isRecovery && recovers(line, torn.bytes)) {
      this.#torn = undefined
      this.#recovered += 1
      return true
    }
    if (torn === undefined) this.#fail('missing', this.#lines)
    else this.#fail('changed', torn.line)
    return false
  }

  #follow({ sequence, hash, previous }: ReadLine): void {
    const expected = (this.#head?.sequence ?? sequence - 1) + 1
    if (sequence > expected) {
      this.#expectedBehind = expected
      this.#ahead = missing(this.#lines, expected, sequence)
      return
    }
    if (sequence < expected) this.#problem = moved(this.#lines)
    else if (this.#head !== undefined && previous !== this.#head.hash) this.#fail('replaced', this.#lines)
    if (this.isOver) return
    this.#first ??= sequence
    this.#entries += 1
    this.#head = { sequence, hash }
  }

  #fail(fault: ChainFault, line: number): void {
    this.#problem ??= { line, fault, problem: PROBLEMS[fault] }
  }
}

const LINE_FEED = Buffer.from('\n')

const PROBLEMS: Readonly<Record<ChainFault, string>> = {
  changed: 'the line is not as it was written',
  missing: 'what stood before this line is gone',
  moved: 'the line stands elsewhere than it was written',
  replaced: 'the line follows another one than it was written after',
}

function moved(line: number): ChainProblem {
  return { line, fault: 'moved', problem: PROBLEMS.moved }
}

function missing(line: number, expected: number, found: number): ChainProblem {
  const count = found - expected
  const entries = count === 1 ? `entry ${expected} is` : `entries ${expected} to ${found - 1} are`
  return { line, fault: 'missing', problem: `expected entry ${expected}, found entry ${found}: ${entries} missing` }
}
