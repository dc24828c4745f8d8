/**
 * Results that a peer had a say in, on stdout.
 *
 * Holds: where programs read them they are there to the byte; on a terminal nothing in them can steer it. What is
 * promised as one line is one.
 *
 * @module
 */
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
