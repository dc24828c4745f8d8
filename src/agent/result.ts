/**
 * Results that a peer had a say in, on stdout.
 *
 * Holds: where programs read them they are there to the byte; on a terminal nothing in them can steer it. What is
 * promised as one line is one.
 *
 * @module
 */
import { endOfString } from '../core/json.ts'
import { escapeUnprintable } from '../core/printable.ts'
import { type Io, printLine } from './io.ts'

/** Text may have lines and tabs; anything else that a terminal acts on is escaped there. */
export function printResult(io: Io, text: string): Promise<void> {
  return printLine(io, io.stdout.isTTY === true ? text.replace(/[^\n\t]+/g, escapeUnprintable) : text)
}

/** The same JSON, to the digit, on one line: it can only end between tokens, where nothing is needed. */
export function onOneLine(json: string): string {
  return json.replace(/\s*[\r\n]\s*/g, '')
}

/** The same JSON, to the digit, without blanks between its tokens. */
export function withoutBlanks(json: string): string {
  const parts: string[] = []
  let from = 0
  for (let at = 0; at < json.length; at += 1) {
    if (json[at] === '"') {
      at = endOfString(json, at)
    } else if (BLANKS.has(json[at])) {
      if (from < at) parts.push(json.slice(from, at))
      from = at + 1
    }
  }
  parts.push(json.slice(from))
  return parts.join('')
}

const BLANKS: ReadonlySet<string | undefined> = new Set([' ', '\t', '\n', '\r'])
