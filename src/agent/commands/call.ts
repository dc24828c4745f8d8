/**
 * `ct-agent call`: one tool, one result.
 *
 * @module
 */
import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { isJsonObject, type JsonObject, type JsonValue, resultOf } from '../../mcp/index.ts'
import { type Context } from '../command.ts'
import { fromFile, readText } from '../input.ts'
import { type Io } from '../io.ts'
import { withPeer } from '../peer-call.ts'
import { printResult } from '../result.ts'
import { takeTicket } from '../ticket-source.ts'

export async function call(context: Context): Promise<number> {
  const { io, switches } = context
  const { ticket, fromStdin, rest } = await takeTicket(context, 1)
  const [name = '', text] = rest
  const file = context.values.get('input')
  if (fromStdin && (text === '-' || file === '-')) {
    throw new CtError('ERR_USAGE', 'expected the ticket or the arguments on stdin, found both')
  }
  const args = await readArguments(io, text, file)
  const result = await withPeer(context, ticket, async (caller) =>
    resultOf(await caller.call('tools/call', { name, ...(args === undefined ? {} : { arguments: args }) })),
  )
  await printResult(io, switches.has('json') ? JSON.stringify(result) : forPeople(result))
  return 0
}

/** The bare text of a service's result, any other result as JSON. */
function forPeople(result: JsonValue): string {
  if (!isJsonObject(result)) return JSON.stringify(result)
  const { output } = result
  return typeof output === 'string' && Object.keys(result).length === 1 ? output : JSON.stringify(result)
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
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new CtError('ERR_USAGE', `expected the arguments to be JSON, found ${quote(text)}`, { cause: error })
  }
  if (isJsonObject(value)) return value
  throw new CtError('ERR_USAGE', `expected the arguments to be a JSON object, found ${quote(text)}`)
}

function readFrom({ stdin }: Io, file: string): Promise<string> {
  return file === '-' ? readText(stdin, 'stdin') : fromFile(file, (source) => readText(source, file))
}
