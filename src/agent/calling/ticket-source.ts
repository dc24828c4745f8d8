/**
 * Where a command gets its peer from: an operand, a file, stdin, or the variable; each holds a name or a ticket.
 *
 * A ticket is a secret, and other users of the machine can read a command line: every way but the bare operand keeps it
 * from them.
 *
 * @module
 */
import { parseTicket } from '../../channel/index.ts'
import { type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { fromFile } from '../input.ts'
import { readLines } from '../line-reader.ts'
import { looksLikeTicket, parsePeerName } from '../peers/peer-name.ts'
import { TICKET_ENV } from './call-settings.ts'

export interface TakenPeer {
  /** A name or a ticket. */
  readonly peer: string
  readonly fromStdin: boolean
  /** The operands after it. */
  readonly rest: readonly string[]
}

/** More than any ticket takes, however it was wrapped. */
const MAX_LINES = 256
/** Longer than any ticket, blanks included. */
const MAX_LINE_BYTES = 65_536

/**
 * The operand goes before the variable. Where both a peer and a tool may stand first, the variable makes the operand a
 * tool, unless it is a ticket, or what follows it can be no arguments.
 *
 * @param needed operands that must follow
 * @throws {CtError} `ERR_USAGE`
 */
export async function takePeer({ env, io, operands }: Context, needed: 0 | 1): Promise<TakenPeer> {
  const problems: EnvProblem[] = []
  const { ticket: given } = readEnv(TICKET_ENV, env, problems)
  refuseProblems(problems)
  const [first, ...rest] = operands
  if (first !== undefined && (given === undefined ? hasPeer(first, rest, needed) : isPeer(first, rest, needed))) {
    if (rest.length < needed) throw new CtError('ERR_USAGE', 'expected the name of a tool after the peer')
    if (first === '-') return { peer: await pasted(io.stdin, 'stdin'), fromStdin: true, rest }
    const peer = first.startsWith('@') ? await fromFile(first.slice(1), (file) => pasted(file, first)) : first
    return { peer, fromStdin: false, rest }
  }
  if (given !== undefined) return { peer: given, fromStdin: false, rest: operands }
  throw new CtError(
    'ERR_USAGE',
    `expected the name of a peer, or a ticket in ${TICKET_ENV.ticket.name}, or as @file, or - for stdin`,
  )
}

/**
 * Every operand is a peer; without any, the variable says which.
 *
 * @throws {CtError} `ERR_USAGE`; stdin is the caller's own
 */
export async function takePeers({ env, operands }: Pick<Context, 'env' | 'operands'>): Promise<readonly string[]> {
  const problems: EnvProblem[] = []
  const { ticket } = readEnv(TICKET_ENV, env, problems)
  refuseProblems(problems)
  if (operands.length > 0) {
    return Promise.all(
      operands.map(async (operand) => {
        if (operand === '-') throw new CtError('ERR_USAGE', 'expected a ticket or a name, found stdin, which is taken')
        return operand.startsWith('@') ? fromFile(operand.slice(1), (file) => pasted(file, operand)) : operand
      }),
    )
  }
  if (ticket !== undefined) return [ticket]
  throw new CtError('ERR_USAGE', `expected names of peers, or tickets, or one in ${TICKET_ENV.ticket.name}`)
}

/** Without the variable: a lone word that is no ticket would be the tool. */
function hasPeer(first: string, rest: readonly string[], needed: number): boolean {
  return looksLikeTicket(first) || rest.length >= needed
}

/** With the variable: whether the first operand is a peer all the same. */
function isPeer(first: string, rest: readonly string[], needed: number): boolean {
  if (looksLikeTicket(first) || rest.length > needed) return true
  const [next] = rest
  return needed === 0 || (next !== undefined && !looksLikeArguments(next) && 'value' in parsePeerName(first))
}

function looksLikeArguments(operand: string): boolean {
  return operand === '-' || /^\s*[{["]/.test(operand)
}

/** The first line, and those after it for as long as they are the rest of a ticket that was wrapped. */
async function pasted(source: AsyncIterable<string | Uint8Array>, name: string): Promise<string> {
  let text = ''
  let lines = 0
  for await (const line of readLines(source, MAX_LINE_BYTES)) {
    if ('problem' in line) throw line.problem
    text += line.text
    lines += 1
    if (lines === MAX_LINES || !looksLikeTicket(text) || isWhole(text)) break
  }
  if (lines > 0) return text
  throw new CtError('ERR_USAGE', `expected a ticket in the first line of ${name}, found nothing`)
}

function isWhole(text: string): boolean {
  try {
    parseTicket(text)
    return true
  } catch (error) {
    if (isCtError(error)) return false
    throw error
  }
}
