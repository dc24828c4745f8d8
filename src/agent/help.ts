/**
 * Help texts, written from the same tables that read the command line and the environment.
 *
 * @module
 */
import { type EnvRow } from '../core/env.ts'
import { type Command } from './command.ts'

/** The overview: every command, and where to go on. */
export function overview(commands: readonly Command[]): string {
  const rows = commands.map((command) => [usageOf(command), command.about] as const)
  return [
    'Usage: ct-agent <command> [flags]',
    '',
    'One AI agent calls another over an encrypted channel; nobody but the two is trusted.',
    '',
    'Commands:',
    ...table(rows),
    '',
    'More:',
    ...table([
      ['ct-agent <command> --help', 'flags and examples of a command'],
      ['ct-agent help env', 'every variable with its default'],
      ['ct-agent --version', 'the version'],
    ]),
    '',
    'Try it: ct-agent demo',
  ].join('\n')
}

/** Everything about one command. */
export function helpOf(command: Command): string {
  const flags = [
    ...command.options.map(({ name, about, value }) => [flagText(name, value), about] as const),
    ...command.rows.flatMap((row) =>
      row.flag === undefined ? [] : [[flagText(row.flag, switchless(row)), `${row.about} (${row.name})`] as const],
    ),
  ]
  const variables = command.rows.map((row) => [row.name, aboutRow(row)] as const)
  return [
    `Usage: ct-agent ${usageOf(command)}`,
    '',
    `${capitalised(command.about)}.${command.exits ? '' : ' Runs until it is stopped.'}`,
    ...(command.details === undefined ? [] : ['', command.details]),
    ...(flags.length === 0 ? [] : ['', 'Flags:', ...table(flags)]),
    ...(variables.length === 0 ? [] : ['', 'Variables:', ...table(variables)]),
    '',
    'Examples:',
    ...command.examples.map((line) => `  ${line}`),
  ].join('\n')
}

/** Every variable with meaning and default. */
export function helpEnv(rows: readonly EnvRow<unknown>[]): string {
  return [
    'A flag wins over the environment, the environment over the file in CT_CONFIG_FILE.',
    '',
    ...table(rows.map((row) => [row.name, aboutRow(row)] as const)),
  ].join('\n')
}

function aboutRow(row: EnvRow<unknown>): string {
  const parts = [
    row.expects,
    row.fallback === undefined ? undefined : `default ${row.fallback}`,
    row.secret === true ? 'secret' : undefined,
  ]
  return `${row.about} (${parts.filter((part) => part !== undefined).join('; ')})`
}

function usageOf({ words, operands }: Command): string {
  return [...words, operands].filter((part) => part !== '').join(' ')
}

function flagText(name: string, value: string | undefined): string {
  return value === undefined ? `--${name}` : `--${name} <${value}>`
}

function switchless({ expects }: EnvRow<unknown>): string | undefined {
  return expects === '1|0' ? undefined : expects
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.min(MAX_FIRST_COLUMN, Math.max(...rows.map(([first]) => first.length)))
  return rows.map(([first, second]) =>
    first.length > width ? `  ${first}\n  ${' '.repeat(width)}  ${second}` : `  ${first.padEnd(width)}  ${second}`,
  )
}

/** Longer entries put their meaning on the next line. */
const MAX_FIRST_COLUMN = 44
