/**
 * A command that stands after `--` on the command line, as a variable holds it.
 *
 * @module
 */
import { CtError } from '../core/errors.ts'
import { type Command } from './command.ts'

export interface SplitLine {
  /** Without what follows `--`. */
  readonly argv: readonly string[]
  /** For the variable of the command, if there is one. */
  readonly overlay: Readonly<Record<string, string>>
}

/**
 * The words before `--`, and those behind it as one command for a shell.
 *
 * @throws {CtError} `ERR_USAGE`
 */
export function splitRest({ rest, words }: Command, argv: readonly string[]): SplitLine {
  const at = argv.indexOf('--')
  if (rest === undefined || at < 0) return { argv, overlay: {} }
  const command = argv.slice(at + 1)
  if (command.length === 0 || command[0]?.trim() === '') {
    throw new CtError(
      'ERR_USAGE',
      `expected a command after --, found none; usage: ct-agent ${words.join(' ')} -- <command>`,
    )
  }
  return { argv: argv.slice(0, at), overlay: { [rest.name]: `exec ${command.map(quoted).join(' ')}` } }
}

/** As one word for a shell. */
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
