/**
 * JSON documents in a text that comes in pieces: one, several after each other, or the elements of one array.
 *
 * Holds: how the text is cut into pieces changes nothing, and no more is kept than the longest document that is allowed
 * and one piece. Only where a document ends is found out here; whether it is JSON is for whoever reads it.
 *
 * A document that does not end would take all that follows with it. Such a one is cut off before the next line that
 * begins with an opening brace, so that a line that is broken costs only itself. What is valid is never cut.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { MAX_ARTEFACT_CHARS, malformed } from '../../core/exact-json.ts'
import { MAX_NESTING } from '../../core/json.ts'

/** A document's text, or why there is none; counted from 1. */
export type JsonDocument = { readonly index: number } & ({ readonly text: string } | { readonly problem: CtError })

/** What the next character is part of. */
type Place = 'between' | 'nested' | 'bare' | 'skipped'

/** What may come between documents; all but the first two are said of an array. */
type Next = 'anything' | 'document' | 'first element' | 'element' | 'comma' | 'nothing'

export class JsonDocuments {
  readonly #maxChars: number
  #found: JsonDocument[] = []
  #count = 0
  #started = false
  #place: Place = 'between'
  #next: Next = 'anything'
  /** From the start of the document under way. */
  #text = ''
  /** Up to here it was looked at. */
  #at = 0
  /** What closes the brackets that are open in it, the innermost last. */
  #closers: number[] = []
  #inString = false
  #escaped = false
  /** After the last character, a bracket may open. */
  #mayOpen = false

  constructor(maxChars: number = MAX_ARTEFACT_CHARS) {
    this.#maxChars = maxChars
  }

  /** The documents that end in this piece. */
  push(piece: string): readonly JsonDocument[] {
    this.#text += piece
    if (!this.#started && this.#text !== '') {
      this.#started = true
      if (this.#text.startsWith(BYTE_ORDER_MARK)) this.#text = this.#text.slice(1)
    }
    this.#scan()
    return this.#take()
  }

  /** The documents that end with the text. */
  end(): readonly JsonDocument[] {
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

  #take(): readonly JsonDocument[] {
    const found = this.#found
    this.#found = []
    return found
  }

  #scan(): void {
    while (this.#at < this.#text.length) {
      if (this.#place === 'between') this.#scanBetween()
      else if (this.#place === 'skipped') this.#skip()
      else if (this.#at >= this.#maxChars) {
        this.#giveUp(`expected at most ${this.#maxChars} characters, found more`, this.#at - 1)
      } else if (this.#place === 'nested') this.#scanNested()
      else this.#scanBare()
    }
    if (this.#place === 'between') this.#cut(this.#at)
  }

  #scanBetween(): void {
    const code = this.#text.charCodeAt(this.#at)
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
      } else {
        this.#place = code === OPEN_BRACE || code === OPEN_BRACKET ? 'nested' : 'bare'
        this.#next = IN_ARRAY.has(this.#next) ? 'comma' : 'document'
      }
    }
  }

  #pass(next: Next): void {
    this.#next = next
    this.#at += 1
  }

  #scanNested(): void {
    const end = Math.min(this.#text.length, this.#maxChars)
    while (this.#at < end) {
      const code = this.#text.charCodeAt(this.#at)
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
    if (isOpening && this.#closers.length === MAX_NESTING) {
      this.#giveUp(`expected arrays and objects nested at most ${MAX_NESTING} deep, found more`, this.#at - 1)
    } else if (isOpening && !this.#mayOpen && this.#closers.length > 0) {
      this.#giveUp('expected a comma or the end of the document, found another one')
    } else if (isOpening) {
      this.#closers.push(code === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET)
      this.#mayOpen = code === OPEN_BRACKET
      return true
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
      this.#mayOpen = false
      if (this.#closers.pop() !== code) this.#giveUp('expected matching brackets, found one of the other kind')
      else if (this.#closers.length > 0) return true
      else this.#finish()
    } else {
      this.#mayOpen = code === COMMA || code === COLON
      return true
    }
    return false
  }

  /** What is neither object nor array is no artefact, and is handed on as it stands. */
  #scanBare(): void {
    const end = Math.min(this.#text.length, this.#maxChars)
    while (this.#at < end) {
      const code = this.#text.charCodeAt(this.#at)
      if (code === LINE_FEED || (this.#next === 'comma' && (code === COMMA || code === CLOSE_BRACKET))) {
        this.#finish()
        return
      }
      this.#at += 1
    }
  }

  #finish(): void {
    this.#count += 1
    this.#found.push({ index: this.#count, text: this.#text.slice(0, this.#at).trimEnd() })
    this.#cut(this.#at)
    this.#place = 'between'
  }

  /** @param rescanned from here on the text may hold other documents */
  #giveUp(problem: string, rescanned = 0): void {
    this.#count += 1
    this.#found.push({ index: this.#count, problem: malformed(problem) })
    this.#closers = []
    this.#inString = false
    this.#escaped = false
    this.#cut(rescanned)
    this.#place = 'skipped'
    if (this.#next === 'comma') this.#next = 'element'
  }

  #skip(): void {
    const found = this.#text.indexOf(NEXT_DOCUMENT)
    if (found >= 0) {
      this.#cut(found + 1)
      this.#place = 'between'
    } else {
      if (!this.#text.endsWith('\n')) this.#text = ''
      else this.#text = '\n'
      this.#at = this.#text.length
    }
  }

  #cut(start: number): void {
    this.#text = this.#text.slice(start)
    this.#at = 0
  }
}

const IN_ARRAY: ReadonlySet<Next> = new Set(['first element', 'element', 'comma'])

const NEXT_DOCUMENT = '\n{'
const BYTE_ORDER_MARK = '\ufeff'
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
