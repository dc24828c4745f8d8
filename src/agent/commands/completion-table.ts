/**
 * What a shell can complete, from the command table. Pure.
 *
 * @module
 */
import { type EnvRow, parseSwitch } from '../../core/env.ts'
import { type Command, type Option } from '../command.ts'
import { HOSTS } from '../hosting/host-config.ts'

/** What comes after a flag: nothing, a file, some text, or one of these words. */
export type Taken = 'nothing' | 'file' | 'text' | readonly string[]

export interface CompletedFlag {
  /** With its dashes. */
  readonly flag: string
  readonly about: string
  readonly takes: Taken
}

export interface CompletedCommand {
  /** As typed, such as `peer list`. */
  readonly key: string
  readonly about: string
  readonly flags: readonly CompletedFlag[]
  /** What its operands are. */
  readonly operands: 'peers' | 'files' | readonly string[]
}

export interface CompletedWord {
  readonly word: string
  readonly about: string
}

export interface Completions {
  readonly commands: readonly CompletedCommand[]
  /** What can come first. */
  readonly first: readonly CompletedWord[]
  /** Of the first words that are not all, what can follow. */
  readonly groups: ReadonlyMap<string, readonly CompletedWord[]>
}

export function completionsOf(all: readonly Command[]): Completions {
  const groups = new Map<string, readonly CompletedWord[]>()
  const first = new Map<string, CompletedWord>()
  for (const { words, about } of all) {
    const [word = '', second] = words
    if (second === undefined) first.set(word, { word, about })
    else {
      groups.set(word, [...(groups.get(word) ?? []), { word: second, about }])
      if (!first.has(word)) first.set(word, { word, about: 'a group of commands' })
    }
  }
  return { commands: all.map(completed), first: [...first.values()], groups }
}

function completed({ words, about, options, rows, operands }: Command): CompletedCommand {
  const help = { flag: '--help', about: 'Say what the command does', takes: 'nothing' } as const
  return {
    key: words.join(' '),
    about,
    flags: [...options.map(ofOption), ...rows.flatMap(ofRow), help],
    operands: operandsOf(words, operands),
  }
}

function ofOption({ name, about, value }: Option): CompletedFlag {
  const takes = value === undefined ? 'nothing' : value === 'host' ? HOSTS : /file|folder/.test(value) ? 'file' : 'text'
  return { flag: `--${name}`, about, takes }
}

function ofRow({ flag, about, parse, expects }: EnvRow<unknown>): readonly CompletedFlag[] {
  if (flag === undefined) return []
  const words = wordsIn(expects)
  const takes = parse === parseSwitch ? 'nothing' : (words ?? (/path|file/.test(expects) ? 'file' : 'text'))
  return [{ flag: `--${flag}`, about, takes }]
}

function operandsOf([first]: readonly string[], operands: string): CompletedCommand['operands'] {
  if (/<peer>|ticket or name/.test(operands) || (first === 'peer' && operands.startsWith('<name>'))) return 'peers'
  return wordsIn(/^<([^>]*)>/.exec(operands)?.[1] ?? '') ?? 'files'
}

/** Of `a|b|c`. */
function wordsIn(text: string): readonly string[] | undefined {
  return /^[a-z0-9-]+(?:\|[a-z0-9-]+)+$/.test(text) ? text.split('|') : undefined
}
