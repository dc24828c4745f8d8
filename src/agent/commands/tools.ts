/**
 * `ct-agent tools`: what a peer serves.
 *
 * @module
 */
import { type JsonObject } from '../../core/json.ts'
import { memberText } from '../../core/json-scan.ts'
import { escapeUnprintable, printable } from '../../core/printable.ts'
import { type Answer, resultTextOf } from '../../mcp/index.ts'
import { withPeer } from '../calling/peer-call.ts'
import { takePeer } from '../calling/ticket-source.ts'
import { listTools } from '../calling/tool-list.ts'
import { type Context } from '../command.ts'
import { printResult, withoutBlanks } from '../result.ts'
import { tableLines } from '../table.ts'

export async function tools(context: Context): Promise<number> {
  const { io, switches } = context
  const { peer } = await takePeer(context, 0)
  const { answers, tools: list } = await withPeer(context, peer, listTools)
  await printResult(io, switches.has('json') ? escapeUnprintable(withoutBlanks(listText(answers))) : table(list))
  return 0
}

/** The list to the digit, such as the bounds in a schema. */
function listText(answers: readonly Answer[]): string {
  const pages = answers.map((answer) => (memberText(resultTextOf(answer), 0, 'tools') ?? '[]').slice(1, -1).trim())
  return `[${pages.filter((page) => page !== '').join(',')}]`
}

function table(list: readonly JsonObject[]): string {
  const rows = list.map(({ name, description }) => [
    plain(name, MAX_NAME_CHARS),
    plain(description, MAX_DESCRIPTION_CHARS),
  ])
  return tableLines(rows).join('\n')
}

// A peer's words on a terminal: one line each, of bounded length. With --json the whole of them is there.
function plain(value: unknown, maxChars: number): string {
  return typeof value === 'string' ? printable(value, maxChars) : ''
}

const MAX_NAME_CHARS = 256
const MAX_DESCRIPTION_CHARS = 2_000
