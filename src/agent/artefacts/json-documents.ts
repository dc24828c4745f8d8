/**
 * JSON documents in bytes that come in pieces: one, several after each other, or the elements of one array.
 *
 * Holds: how the bytes are cut into pieces changes nothing, and no more is kept than the longest document that is
 * allowed and one piece. Every byte is looked at twice at most. Only where a document ends is found out here; whether it
 * is JSON is for whoever reads it.
 *
 * A document that does not end would take all that follows with it. Such a one is cut off before the next line that
 * begins with an opening brace, so that a line that is broken costs only itself. What is valid is never cut.
 *
 * @module
 */
import { decodeUtf8 } from '../../core/bytes.ts'
import { type CtError } from '../../core/errors.ts'
import { MAX_ARTEFACT_CHARS, malformed } from '../../core/exact-json.ts'
import { MAX_NESTING } from '../../core/json.ts'

/** A document's text, or why there is none; counted from 1. */
export type JsonDocument = { readonly index: number } & ({ readonly text: string } | { readonly problem: CtError })

/** What the next byte is part of. */
type Place = 'between' | 'nested' | 'bare' | 'skipped'

/** What may come between documents; all but the first two are said of an array. */
type Next = 'anything' | 'document' | 'first element' | 'element' | 'comma' | 'nothing'

/** A character of a text takes three bytes at most, or two of them four. */
const MAX_DOCUMENT_BYTES = 3 * MAX_ARTEFACT_CHARS

export class JsonDocuments {
  readonly #maxBytes: number
  #found: JsonDocument[] = []
  #count = 0
  #hasBegun = false
  #place: Place = 'between'
  #next: Next = 'anything'
  /** From the start of the document under way. */
  #bytes: Buffer = Buffer.alloc(0)
  /** Where that is in all the bytes. */
  #start = 0
  /** Up to here it was looked at. */
  #at = 0
  /** Brackets that are open in it, the innermost last: where they are in all the bytes, and what closes them. */
  #open: { readonly start: number; readonly closer: number }[] = []
  #inString = false
  #escaped = false
  /** After the last byte, a bracket may open. */
  #mayOpen = false
  /** Brackets that were open when a document was given up, and why: none of them ends, wherever one begins to look. */
  #endless: { readonly starts: ReadonlySet<number>; readonly problem: string } = { starts: new Set(), problem: '' }

  constructor(maxBytes: number = MAX_DOCUMENT_BYTES) {
    this.#maxBytes = maxBytes
  }

  /** The documents that end in this piece. */
  push(piece: Uint8Array): readonly JsonDocument[] {
    this.#bytes = this.#bytes.length === 0 ? Buffer.from(piece) : Buffer.concat([this.#bytes, piece])
    if (!this.#hasBegun) {
      if (this.#bytes.length < BYTE_ORDER_MARK.length) return []
      this.#begin()
    }
    this.#scan()
    return this.#take()
  }

  /** The documents that end with the bytes. */
  end(): readonly JsonDocument[] {
    if (!this.#hasBegun) this.#begin()
    this.#scan()
    while (this.#place === 'nested') {
      this.#giveUp('expected a whole document, found one that is cut off')
      this.#scan()
    }
    if (this.#place === 'bare') this.#finish()
    if (this.#place === 'between' && IN_ARRAY.has(this.#next)) {
      this.#giveUp('expected the end of the array, found the end of the text')
    }
    return this.#take()
  }

  #begin(): void {
    this.#hasBegun = true
    if (this.#bytes.indexOf(BYTE_ORDER_MARK) === 0) this.#cut(BYTE_ORDER_MARK.length)
  }

  #take(): readonly JsonDocument[] {
    const found = this.#found
    this.#found = []
    return found
  }

  #scan(): void {
    while (this.#at < this.#bytes.length) {
      if (this.#place === 'between') this.#scanBetween()
      else if (this.#place === 'skipped') this.#skip()
      else if (this.#at >= this.#maxBytes) {
        this.#giveUp(`expected at most ${this.#maxBytes} bytes, found more`, this.#at - 1)
      } else if (this.#place === 'nested') this.#scanNested()
      else this.#scanBare()
    }
    if (this.#place === 'between') this.#cut(this.#at)
  }

  #scanBetween(): void {
    const code = this.#bytes[this.#at] ?? 0
    if (BLANKS.has(code)) {
      this.#at += 1
    } else if (this.#next === 'anything' && code === OPEN_BRACKET) {
      this.#pass('first element')
    } else if (this.#next === 'comma' && code === COMMA) {
      this.#pass('element')
    } else if ((this.#next === 'comma' || this.#next === 'first element') && code === CLOSE_BRACKET) {
      this.#pass('nothing')
    } else {
      this.#cut(this.#at)
      if (this.#next === 'comma') this.#giveUp('expected a comma or the end of the array, found something else')
      else if (this.#next === 'nothing') this.#giveUp('expected nothing after the array, found something')
      else if (IN_ARRAY.has(this.#next) && (code === COMMA || code === CLOSE_BRACKET)) {
        this.#giveUp('expected an element of the array, found none')
      } else this.#enter(code)
    }
  }

  #pass(next: Next): void {
    this.#next = next
    this.#at += 1
  }

  /** A document begins here. */
  #enter(code: number): void {
    this.#place = code === OPEN_BRACE || code === OPEN_BRACKET ? 'nested' : 'bare'
    this.#next = IN_ARRAY.has(this.#next) ? 'comma' : 'document'
    if (this.#endless.starts.has(this.#start)) this.#giveUp(this.#endless.problem)
  }

  #scanNested(): void {
    const end = Math.min(this.#bytes.length, this.#maxBytes)
    while (this.#at < end) {
      const code = this.#bytes[this.#at] ?? 0
      this.#at += 1
      if (this.#escaped) this.#escaped = false
      else if (code === QUOTE) {
        this.#inString = !this.#inString
        this.#mayOpen = false
      } else if (!this.#inString) {
        if (!BLANKS.has(code) && !this.#nest(code)) return
      } else if (code === BACKSLASH) this.#escaped = true
      else if (code === LINE_FEED) {
        this.#giveUp('expected the end of a text in quotes, found the end of the line')
        return
      }
    }
  }

  /** Opens or closes a bracket; false when the document ended by it. */
  #nest(code: number): boolean {
    const isOpening = code === OPEN_BRACE || code === OPEN_BRACKET
    if (isOpening && this.#open.length === MAX_NESTING) {
      this.#giveUp(`expected arrays and objects nested at most ${MAX_NESTING} deep, found more`, this.#at - 1)
    } else if (isOpening && !this.#mayOpen && this.#open.length > 0) {
      this.#giveUp('expected a comma or the end of the document, found another one')
    } else if (isOpening) {
      const closer = code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET
      this.#open.push({ start: this.#start + this.#at - 1, closer })
      this.#mayOpen = code === OPEN_BRACKET
      return true
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      this.#mayOpen = false
      if (this.#open.at(-1)?.closer !== code) {
        this.#giveUp('expected matching brackets, found one of the other kind')
        return false
      }
      this.#open.pop()
      if (this.#open.length > 0) return true
      this.#finish()
    } else {
      this.#mayOpen = code === COMMA || code === COLON
      return true
    }
    return false
  }

  /** What is neither object nor array is no artefact, and is handed on as it stands. */
  #scanBare(): void {
    const end = Math.min(this.#bytes.length, this.#maxBytes)
    while (this.#at < end) {
      const code = this.#bytes[this.#at]
      if (code === LINE_FEED || (this.#next === 'comma' && (code === COMMA || code === CLOSE_BRACKET))) {
        this.#finish()
        return
      }
      this.#at += 1
    }
  }

  #finish(): void {
    const index = this.#number()
    const text = decodeUtf8(this.#bytes.subarray(0, this.#at))
    this.#found.push(
      text === undefined
        ? { index, problem: malformed('expected UTF-8 text, found other bytes') }
        : { index, text: text.trimEnd() },
    )
    this.#cut(this.#at)
    this.#place = 'between'
  }

  /** @param rescanned from here on the bytes may hold other documents */
  #giveUp(problem: string, rescanned = 0): void {
    this.#found.push({ index: this.#number(), problem: malformed(problem) })
    if (this.#open.length > 0) {
      this.#endless = { starts: new Set(this.#open.map(({ start }) => start)), problem }
      this.#open = []
    }
    this.#inString = false
    this.#escaped = false
    this.#cut(rescanned)
    this.#place = 'skipped'
    if (this.#next === 'comma') this.#next = 'element'
  }

  #number(): number {
    this.#count += 1
    return this.#count
  }

  #skip(): void {
    const found = this.#bytes.indexOf(NEXT_DOCUMENT)
    if (found >= 0) {
      this.#cut(found + 1)
      this.#place = 'between'
    } else {
      // The brace may come with the next piece.
      this.#cut(this.#bytes.length - (this.#bytes.at(-1) === LINE_FEED ? 1 : 0))
      this.#at = this.#bytes.length
    }
  }

  #cut(start: number): void {
    this.#start += start
    this.#bytes = this.#bytes.subarray(start)
    this.#at = 0
  }
}

const IN_ARRAY: ReadonlySet<Next> = new Set(['first element', 'element', 'comma'])

const NEXT_DOCUMENT = Buffer.from('\n{')
const BYTE_ORDER_MARK = Buffer.from('\ufeff')
const QUOTE = 0x22
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const BACKSLASH = 0x5c
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const LINE_FEED = 0x0a
/** What JSON allows between tokens: tab, line feed, carriage return, space. */
const BLANKS: ReadonlySet<number> = new Set([0x09, LINE_FEED, 0x0d, 0x20])
