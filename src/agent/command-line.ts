/**
 * Reads the command line against the command table.
 *
 * Holds: no word and no flag is ignored; what is unknown is an error that names the nearest known one.
 *
 * @module
 */
import { parseArgs } from 'node:util'
import { parseSwitch, quote } from '../core/env.ts'
import { CtError } from '../core/errors.ts'
import { didYouMean } from '../core/nearest.ts'
import { type Command } from './command.ts'
import { splitRest } from './rest-command.ts'

export interface ParsedLine {
  readonly operands: readonly string[]
  readonly switches: ReadonlySet<string>
  readonly values: ReadonlyMap<string, string>
  /** Of flags that may be given several times, what was given, in order. */
  readonly lists: ReadonlyMap<string, readonly string[]>
  /** Flags that stand for variables. */
  readonly overlay: Readonly<Record<string, string>>
}

/** The command whose words begin the line; of several the one with most words. */
export function findCommand(argv: readonly string[], commands: readonly Command[]): Command | undefined {
  return commands
    .filter(({ words }) => words.every((word, index) => argv[index] === word))
    .sort((left, right) => right.words.length - left.words.length)[0]
}

/** Help asked for before any `--`. */
export function asksForHelp(argv: readonly string[]): boolean {
  return hasSwitch(argv, '--help', '-h')
}

/** One of the switches stands before any `--`, in a line that need not be a good one. */
export function hasSwitch(argv: readonly string[], ...switches: readonly string[]): boolean {
  const end = argv.indexOf('--')
  return argv.slice(0, end < 0 ? argv.length : end).some((word) => switches.includes(word))
}

/** @throws {CtError} `ERR_USAGE` */
export function parseCommandLine(command: Command, argv: readonly string[]): ParsedLine {
  const known = flagsOf(command)
  const split = splitRest(command, argv)
  const { tokens } = parseArgs({
    args: split.argv.slice(command.words.length),
    options: Object.fromEntries(
      [...known].map(([name, { takesValue }]) => [name, { type: takesValue ? 'string' : 'boolean' }]),
    ),
    allowPositionals: true,
    strict: false,
    tokens: true,
  })
  const operands: string[] = []
  const switches = new Set<string>()
  const values = new Map<string, string>()
  const lists = new Map<string, readonly string[]>()
  const overlay: Record<string, string> = {}
  const given = new Set<string>()
  for (const token of tokens) {
    if (token.kind === 'positional') operands.push(token.value)
    if (token.kind !== 'option') continue
    const flag = known.get(token.name)
    if (flag === undefined) throw unknownFlag(token.rawName, known.keys(), command)
    const value = flagValue(token, flag)
    given.add(token.name)
    if (flag.variable !== undefined) overlay[flag.variable] = value
    else if (flag.repeats) lists.set(token.name, [...(lists.get(token.name) ?? []), value])
    else if (flag.takesValue) values.set(token.name, value)
    else switches.add(token.name)
  }
  refuseLoneFlags(command, given)
  refuseArity(command, operands)
  return { operands, switches, values, lists, overlay: { ...overlay, ...split.overlay } }
}

interface Flag {
  readonly takesValue: boolean
  readonly repeats: boolean
  readonly variable?: string
  readonly mayBeBlank?: boolean
  /** What to say when the value is missing, instead of the usual words. */
  readonly usage?: string
}

function flagsOf({ rows, options, words, compatible }: Command): ReadonlyMap<string, Flag> {
  const flags = new Map<string, Flag>()
  for (const { flag, name, parse, keepBlank } of rows) {
    if (flag === undefined) continue
    flags.set(flag, {
      takesValue: parse !== parseSwitch,
      repeats: false,
      variable: name,
      mayBeBlank: keepBlank === true,
    })
  }
  for (const { name, value, repeats = false } of options) {
    const usage = compatible === true ? `usage: ct-agent ${words.join(' ')} --${name} <${value}>` : undefined
    flags.set(name, { takesValue: value !== undefined, repeats, ...(usage === undefined ? {} : { usage }) })
  }
  return flags
}

interface FlagToken {
  readonly rawName: string
  readonly value: string | undefined
  /** The value stands in the same word, after `=`. */
  readonly inlineValue: boolean | undefined
}

function flagValue({ rawName, value, inlineValue }: FlagToken, { takesValue, mayBeBlank, usage }: Flag): string {
  if (!takesValue) {
    if (value === undefined) return '1'
    throw new CtError('ERR_USAGE', `expected ${rawName} without a value, found ${quote(value)}`)
  }
  if (value === undefined) throw new CtError('ERR_USAGE', usage ?? `expected a value after ${rawName}`)
  // Most likely an unset variable of a shell: taken for absent, it would undo what was asked, such as --allow.
  if (value.trim() === '' && mayBeBlank !== true) {
    throw new CtError('ERR_USAGE', usage ?? `expected a value after ${rawName}, found ${quote(value)}`)
  }
  // More likely a forgotten value than one that looks like a flag; a lone - is a value.
  if (inlineValue !== true && /^-./.test(value)) {
    throw new CtError(
      'ERR_USAGE',
      usage ?? `expected a value after ${rawName}, found ${quote(value)}; write ${rawName}=… if meant`,
    )
  }
  return value
}

function refuseLoneFlags({ needs = {} }: Command, given: ReadonlySet<string>): void {
  for (const [flag, other] of Object.entries(needs)) {
    if (given.has(flag) && !given.has(other)) {
      throw new CtError('ERR_USAGE', `expected --${other} with --${flag}, found none`)
    }
  }
}

function unknownFlag(rawName: string, known: Iterable<string>, command: Command): CtError {
  const suggestion = didYouMean(rawName.replace(/^-+/, ''), known, (close) => `--${close}`)
  return new CtError(
    'ERR_USAGE',
    `unrecognized flag ${quote(rawName)} of ct-agent ${command.words.join(' ')}${suggestion}`,
  )
}

function refuseArity({ words, arity: [least, most], operands: shape }: Command, found: readonly string[]): void {
  if (found.length >= least && found.length <= most) return
  const usage = `ct-agent ${[...words, shape].filter((part) => part !== '').join(' ')}`
  const extra = found[most]
  const problem =
    extra === undefined
      ? `expected at least ${least} argument${least === 1 ? '' : 's'}, found ${found.length}`
      : `unrecognized argument ${quote(extra)}`
  throw new CtError('ERR_USAGE', `${problem}; usage: ${usage}`)
}
