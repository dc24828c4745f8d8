/**
 * `ct-agent call`: one tool, one result.
 *
 * @module
 */
import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type ExactJson, parseIntegersExactly, toJsonValue } from '../../core/exact-json.ts'
import { isExactObject } from '../../core/json-shape.ts'
import { unixSeconds } from '../../core/u64.ts'
import { type Answer, isJsonObject, type JsonObject, type JsonValue, resultOf, resultTextOf } from '../../mcp/index.ts'
import { keepReceipt, obtainReceipt, readReceiptWish, refuseForeignMatch } from '../buying/receipting.ts'
import { withPeer } from '../calling/peer-call.ts'
import { takePeer } from '../calling/ticket-source.ts'
import { type Context } from '../command.ts'
import { fromFile, readText, refuseSharedStdin } from '../input.ts'
import { type Io } from '../io.ts'
import { printResult, withoutBlanks } from '../result.ts'

export async function call(context: Context): Promise<number> {
  const { io, clock, switches } = context
  const { peer, fromStdin, rest } = await takePeer(context, 1)
  const [name = '', text] = rest
  const file = context.values.get('input')
  if (fromStdin && (text === '-' || file === '-')) {
    throw new CtError('ERR_USAGE', 'expected the ticket or the arguments on stdin, found both')
  }
  refuseSharedStdin([fromStdin ? '-' : undefined, text, file, context.values.get('match')])
  const args = await readArguments(io, text, file)
  const wish = await readReceiptWish(context, name, args)
  const { answer, outcome } = await withPeer(context, peer, async (caller, ends) => {
    if (wish !== undefined) refuseForeignMatch(wish, ends)
    const answer = await caller.call('tools/call', { name, ...(args === undefined ? {} : { arguments: args }) })
    if (wish === undefined || !('result' in answer)) return { answer, outcome: undefined }
    const output = bareText(answer.result)
    return { answer, outcome: await obtainReceipt(caller, wish, output, ends, { now: unixSeconds(clock) }) }
  })
  await printResult(io, (switches.has('json') ? undefined : bareText(resultOf(answer))) ?? asJson(answer))
  if (wish !== undefined && outcome !== undefined) await keepReceipt(io, wish, outcome)
  return 0
}

/** The text of a result that is nothing else, such as that of a service. */
function bareText(result: JsonValue): string | undefined {
  if (!isJsonObject(result) || Object.keys(result).length !== 1) return undefined
  const { output } = result
  return typeof output === 'string' ? output : undefined
}

function asJson(answer: Answer): string {
  return withoutBlanks(resultTextOf(answer))
}

async function readArguments(
  io: Io,
  text: string | undefined,
  file: string | undefined,
): Promise<JsonObject | undefined> {
  if (text !== undefined && file !== undefined)
    throw new CtError('ERR_USAGE', 'expected arguments or --input, found both')
  if (file !== undefined) return { input: await readFrom(io, file) }
  if (text === undefined) return undefined
  return parseArguments(text === '-' ? await readFrom(io, '-') : text)
}

function parseArguments(text: string): JsonObject {
  let value: ExactJson
  try {
    value = parseIntegersExactly(text)
  } catch (error) {
    throw new CtError('ERR_USAGE', `expected the arguments to be JSON, found ${quote(text)}`, { cause: error })
  }
  if (isExactObject(value)) return toJsonValue(value)
  throw new CtError('ERR_USAGE', `expected the arguments to be a JSON object, found ${quote(text)}`)
}

function readFrom({ stdin }: Io, file: string): Promise<string> {
  return file === '-' ? readText(stdin, 'stdin') : fromFile(file, (source) => readText(source, file))
}
