/**
 * The program: from a command line to an exit status.
 *
 * @module
 */
import { homedir } from 'node:os'
import { type Env, type EnvProblem, readEnv, refuseProblems } from '../core/env.ts'
import { CtError, toCtError } from '../core/errors.ts'
import { didYouMean, nearest } from '../core/nearest.ts'
import { systemClock } from '../core/time.ts'
import { type Command, type Context } from './command.ts'
import { asksForHelp, findCommand, hasSwitch, type ParsedLine, parseCommandLine } from './command-line.ts'
import { COMMANDS } from './commands.ts'
import { readConfigFile } from './config-file.ts'
import { ALL_ENV_ROWS, isKnownVariable } from './env-tables.ts'
import { helpOf, overview } from './help.ts'
import { type Io, notice, printLine, withoutNotices } from './io.ts'
import { createLogger } from './logger.ts'
import { type ErrorForm, reportError } from './report.ts'
import { COMMON_ENV, defaultStateDir } from './settings.ts'

/** Runs one command line; never rejects. */
export async function runProgram(argv: readonly string[], env: Env, io: Io): Promise<number> {
  const [first] = argv
  if (first === undefined || first === '--help' || first === '-h') return answer(io, overview(COMMANDS))
  const command = findCommand(argv, COMMANDS)
  if (command === undefined && first === 'help') return answerHelp(argv.slice(1), io)
  if (command === undefined && asksForHelp(argv.slice(1, 2)) && groupOf(first).length > 0) {
    return answer(io, overview(groupOf(first)))
  }
  if (command === undefined || isUnknownChannelWord(command, argv)) return refuseWord(argv, io)
  if (asksForHelp(argv)) return answer(io, helpOf(command))
  const form = errorForm(command, argv)
  // What a command that stays says of its state is for whoever runs it, and no part of an answer.
  const own = form === 'json' && command.exits ? withoutNotices(io) : io
  try {
    return await runCommand(command, parseCommandLine(command, argv), env, own)
  } catch (error) {
    return reportError(io, toCtError(error), form)
  }
}

/** A command line that asks for JSON gets its error as JSON too, also when it is the line itself that is wrong. */
function errorForm({ compatible }: Command, argv: readonly string[]): ErrorForm {
  if (compatible === true) return 'compatible'
  return hasSwitch(argv, '--json') ? 'json' : 'people'
}

/** `ct-agent help`, or `ct-agent help <command>`. */
function answerHelp(words: readonly string[], io: Io): Promise<number> | number {
  if (words.length === 0) return answer(io, overview(COMMANDS))
  const command = findCommand(words, COMMANDS)
  const group = groupOf(words[0])
  if (command === undefined && words.length === 1 && group.length > 0) return answer(io, overview(group))
  if (command === undefined || command.words.length < words.length) return refuseWord(words, io)
  return answer(io, helpOf(command))
}

async function runCommand(command: Command, line: ParsedLine, processEnv: Env, io: Io): Promise<number> {
  const { env, trouble } = settleFor(command, line.overlay, processEnv, io)
  const problems: EnvProblem[] = []
  const { stateDir, logLevel = 'silent', drainSeconds = 0 } = readEnv(COMMON_ENV, env, problems)
  if (command.examinesSettings !== true) refuseProblems(problems)
  const log = createLogger(logLevel, io.stderr)
  const context: Context = {
    io,
    env,
    operands: line.operands,
    switches: line.switches,
    values: line.values,
    lists: line.lists,
    stateDir: stateDir ?? defaultStateDir(env, process.platform, homedir()),
    settingsTrouble: trouble,
    commands: COMMANDS,
    drainSeconds,
    log,
    clock: systemClock,
    random: Math.random,
  }
  try {
    const start = await command.load()
    return await start(context)
  } catch (error) {
    if (toCtError(error).code === 'ERR_INTERNAL') log.debug('agent.defect', { stack: stackOf(error) })
    throw error
  } finally {
    await log.flush()
  }
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

/** @returns why the settings could not be read, where that is for the command to tell */
function settleFor({ examinesSettings }: Command, overlay: Env, processEnv: Env, io: Io) {
  if (examinesSettings !== true) return { env: settle(overlay, processEnv, io), trouble: undefined }
  try {
    // Names that nobody knows are among what it finds.
    return { env: settle(overlay, processEnv, withoutNotices(io)), trouble: undefined }
  } catch (error) {
    return { env: { ...processEnv, ...overlay }, trouble: toCtError(error) }
  }
}

/** Flag over environment over configuration file; names nobody knows are pointed out. */
function settle(overlay: Env, processEnv: Env, io: Io): Env {
  const given: Env = { ...processEnv, ...overlay }
  const path = given[COMMON_ENV.configFile.name]
  const file = path === undefined || path.trim() === '' ? {} : ownSettings(readConfigFile(path, SECRET_NAMES), io)
  const env = { ...file, ...withoutBlanks(given, file) }
  for (const name of Object.keys(env)) {
    if (!isOwn([name, undefined]) || isKnownVariable(name)) continue
    notice(io, `ct-agent: unknown variable ${name} is ignored${didYouMean(name, KNOWN_NAMES)}`)
  }
  return env
}

/** Of a settings file, the settings: handlers inherit every other variable, and a file is not their environment. */
function ownSettings(file: Env, io: Io): Env {
  const [own, others] = [Object.entries(file).filter(isOwn), Object.entries(file).filter((entry) => !isOwn(entry))]
  for (const [name] of others) notice(io, `ct-agent: ${name} in CT_CONFIG_FILE is ignored: it is no CT_ variable`)
  return Object.fromEntries(own)
}

function isOwn([name]: readonly [string, unknown]): boolean {
  return name.startsWith('CT_')
}

/** What is set to nothing counts as absent, so that the file's setting holds. */
function withoutBlanks(given: Env, file: Env): Env {
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name, value = '']) => value.trim() !== '' || !Object.hasOwn(file, name) || BLANK_NAMES.has(name),
    ),
  )
}

const BLANK_NAMES: ReadonlySet<string> = new Set(
  ALL_ENV_ROWS.filter(({ keepBlank }) => keepBlank === true).map(({ name }) => name),
)
const KNOWN_NAMES: ReadonlySet<string> = new Set(ALL_ENV_ROWS.map(({ name }) => name))
const SECRET_NAMES: ReadonlySet<string> = new Set(
  ALL_ENV_ROWS.filter(({ secret }) => secret === true).map(({ name }) => name),
)

async function answer(io: Io, text: string): Promise<number> {
  await printLine(io, text)
  return 0
}

function isUnknownChannelWord({ words }: Command, argv: readonly string[]): boolean {
  const next = argv[1]
  return words.length === 1 && words[0] === 'channel' && next !== undefined && !next.startsWith('-')
}

/** The commands of two words that begin with this one. */
function groupOf(first: string | undefined): readonly Command[] {
  return COMMANDS.filter(({ words }) => words.length > 1 && words[0] === first)
}

/** The original program's words, with the nearest known one. */
function refuseWord(argv: readonly string[], io: Io): number {
  const [first = '', second = ''] = argv
  const group = first === 'help' ? [] : groupOf(first)
  const inGroup = group.length > 0
  const known = inGroup
    ? group.flatMap(({ words }) => words.slice(1))
    : COMMANDS.flatMap(({ words }) => [...words.slice(0, 1), '--help', '--version'])
  const word = inGroup ? second : first
  const isMissing = inGroup && (second === '' || second.startsWith('-'))
  const close = isMissing ? undefined : nearest(word, known)
  const problem = isMissing
    ? `expected a word after ${first}, such as ${known[0]}`
    : `unrecognized ${inGroup ? `${first} subcommand` : 'argument'} '${word}'`
  if (first !== 'channel' && hasSwitch(argv, '--json')) {
    const suggestion = isMissing ? '' : didYouMean(word, known)
    reportError(io, new CtError('ERR_USAGE', `${problem}${suggestion}`), 'json')
    return UNKNOWN_WORD_EXIT
  }
  notice(io, `ct-agent: ${problem}`)
  if (close !== undefined) notice(io, `did you mean ${inGroup ? `${first} ` : ''}${close}?`)
  notice(io, `\n${overview(inGroup && first !== 'channel' ? group : COMMANDS)}`)
  return UNKNOWN_WORD_EXIT
}

/** As in the original program, not the status of other mistakes in a command line. */
const UNKNOWN_WORD_EXIT = 1
