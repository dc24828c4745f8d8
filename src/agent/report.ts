/**
 * Errors as people and scripts read them.
 *
 * @module
 */
import { type CtError } from '../core/errors.ts'
import { escapeUnprintable } from '../core/printable.ts'
import { type Io } from './io.ts'

export type ErrorForm = 'people' | 'json' | 'compatible'

/** Prints the error on stderr and returns the exit status. */
export function reportError(io: Io, error: CtError, form: ErrorForm): number {
  io.stderr.write(`${render(error, form)}\n`)
  return form === 'compatible' ? COMPATIBLE_EXIT : error.facts.exit
}

/** Every failure of the original program. */
const COMPATIBLE_EXIT = 1

/** A message may repeat what a peer sent: the last place to make it fit to show. */
function render(error: CtError, form: ErrorForm): string {
  const { code, message } = error
  const { hint, retryable } = error.facts
  const lines = message.split('\n')
  switch (form) {
    case 'json':
      return escapeUnprintable(JSON.stringify({ error: { code, message, retryable, hint } }))
    case 'compatible':
      return [
        ...lines.map((line) => `Error: ${escapeUnprintable(JSON.stringify(line))}`),
        `ct-agent channel: ${code}: ${hint}`,
      ].join('\n')
    case 'people':
      return [...lines.map((line) => `ct-agent: ${escapeUnprintable(line)}`), `  ${code}: ${hint}`].join('\n')
  }
}
