/**
 * Where a command gets the ticket from: an operand, a file, stdin, or the variable.
 *
 * A ticket is a secret, and other users of the machine can read a command line: every way but the bare operand keeps it
 * from them.
 *
 * @module
 */
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { fromFile } from '../input.ts'
import { readLines } from '../line-reader.ts'
import { TICKET_ENV } from './call-settings.ts'

export interface TakenTicket {
  readonly ticket: string
  readonly fromStdin: boolean
  /** The operands after the ticket. */
  readonly rest: readonly string[]
}

/** Longer than any ticket, blanks included. */
const MAX_LINE_BYTES = 65_536

/**
 * Without the variable the first operand is the ticket; with it, only one that looks like a ticket is.
 *
 * @param needed operands that must follow
 * @throws {CtError} `ERR_USAGE`
 */
export async function takeTicket({ env, io, operands }: Context, needed: number): Promise<TakenTicket> {
  const problems: EnvProblem[] = []
  const { ticket: given } = readEnv(TICKET_ENV, env, problems)
  refuseProblems(problems)
  const [first, ...rest] = operands
  const isTicket = first !== undefined && looksLikeTicket(first)
  if (given !== undefined && !isTicket) {
    if (operands.length >= needed) return { ticket: given, fromStdin: false, rest: operands }
  } else if (first !== undefined && (isTicket || rest.length >= needed)) {
    if (rest.length < needed) throw new CtError('ERR_USAGE', 'expected the name of a tool after the ticket')
    if (first === '-') return { ticket: await firstLine(io.stdin, 'stdin'), fromStdin: true, rest }
    const ticket = first.startsWith('@') ? await fromFile(first.slice(1), (file) => firstLine(file, first)) : first
    return { ticket, fromStdin: false, rest }
  }
  throw new CtError('ERR_USAGE', `expected a ticket in ${TICKET_ENV.ticket.name}, or as @file, or - for stdin`)
}

function looksLikeTicket(operand: string): boolean {
  return operand === '-' || operand.startsWith('@') || /^\s*ct\d/i.test(operand)
}

async function firstLine(source: AsyncIterable<string | Uint8Array>, name: string): Promise<string> {
  for await (const line of readLines(source, MAX_LINE_BYTES)) {
    if ('problem' in line) throw line.problem
    return line.text
  }
  throw new CtError('ERR_USAGE', `expected a ticket in the first line of ${name}, found nothing`)
}
