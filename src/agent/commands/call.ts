/**
 * `ct-agent call`: one tool, one result.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { CtError } from '../../core/errors.ts'
import { parseIntegersExactly, toJsonValue } from '../../core/exact-json.ts'
import { unixSeconds } from '../../core/u64.ts'
import { type Answer, isJsonObject, type JsonValue, resultOf, resultTextOf } from '../../mcp/index.ts'
import { keepReceipt, obtainReceipt, readReceiptWish, refuseForeignMatch } from '../buying/receipting.ts'
import { readArguments } from '../calling/arguments.ts'
import { type Keep, keepBinaries } from '../calling/binary-content.ts'
import { type Caller } from '../calling/caller.ts'
import { prepareOut } from '../calling/out-files.ts'
import { type Ends, withPeer } from '../calling/peer-call.ts'
import { ShownProgress } from '../calling/shown-progress.ts'
import { takePeer } from '../calling/ticket-source.ts'
import { toolFailure } from '../calling/tool-failure.ts'
import { type Context } from '../command.ts'
import { refuseSharedStdin } from '../input.ts'
import { type Io, isWatched, notice } from '../io.ts'
import { printResult, withoutBlanks } from '../result.ts'

export async function call(context: Context): Promise<number> {
  const { io, clock, switches, values, lists } = context
  const { peer, fromStdin, rest } = await takePeer(context, 1)
  const [name = '', text] = rest
  const file = values.get('input')
  if (fromStdin && (text === '-' || file === '-')) {
    throw new CtError('ERR_USAGE', 'expected the ticket or the arguments on stdin, found both')
  }
  refuseSharedStdin([fromStdin ? '-' : undefined, text, file, values.get('match')])
  const args = await readArguments(io, { text, file, named: lists.get('arg') ?? [] })
  const out = values.get('out')
  const keep = out === undefined ? undefined : prepareOut({ out, force: switches.has('force'), unique: randomUUID() })
  const wish = await readReceiptWish(context, name, args)
  const shownProgress = progressOf(context)
  const ask = async (caller: Caller, ends: Ends) => {
    if (wish !== undefined) refuseForeignMatch(wish, ends)
    const params = { name, ...(args === undefined ? {} : { arguments: args }) }
    const answer = await caller.call('tools/call', params, shownProgress && { onProgress: shownProgress.tell })
    if (wish === undefined || !('result' in answer)) return { answer, outcome: undefined }
    const output = bareText(answer.result)
    return { answer, outcome: await obtainReceipt(caller, wish, output, ends, { now: unixSeconds(clock) }) }
  }
  const { answer, outcome } = await withPeer(context, peer, ask, () => shownProgress?.text ?? 'waiting for the answer')
  const shown = switches.has('json') ? undefined : bareText(resultOf(answer))
  await printResult(io, shown ?? (await shownJson(io, answer, keep)))
  if (wish !== undefined && outcome !== undefined) await keepReceipt(io, wish, outcome)
  const failure = toolFailure(resultOf(answer))
  if (failure !== undefined) throw failure
  return 0
}

/** Asked for where somebody sees it: on a terminal in one line, else in lines, if they were asked for. */
function progressOf({ io, clock, switches }: Context): ShownProgress | undefined {
  const isAsked = switches.has('progress')
  if (!isAsked && !isWatched(io)) return undefined
  const form = switches.has('json') ? 'json' : 'people'
  const writeLine = (line: string): void => void io.stderr.write(`${form === 'json' ? line : `ct-agent: ${line}`}\n`)
  return new ShownProgress({ clock, form, write: isWatched(io) ? undefined : writeLine })
}

/** The text of a result that is nothing else, such as that of a service. */
function bareText(result: JsonValue): string | undefined {
  if (!isJsonObject(result) || Object.keys(result).length !== 1) return undefined
  const { output } = result
  return typeof output === 'string' ? output : undefined
}

/** A result that was paid for is not lost because a disk is full: it is then printed whole. */
async function shownJson(io: Io, answer: Answer, keep: Keep | undefined): Promise<string> {
  const whole = withoutBlanks(resultTextOf(answer))
  if (keep === undefined) return whole
  try {
    const { result, kept } = keepBinaries(toJsonValue(parseIntegersExactly(whole)), keep)
    if (kept === 0) notice(io, 'ct-agent: the result has no binary content, so --out has nothing to write')
    return kept === 0 ? whole : JSON.stringify(result)
  } catch (error) {
    await printResult(io, whole)
    throw error
  }
}
