/**
 * The arguments of a call, from the command line.
 *
 * @module
 */
import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type ExactJson, parseIntegersExactly, toJsonValue } from '../../core/exact-json.ts'
import { isExactObject } from '../../core/json-shape.ts'
import { type JsonObject, type JsonValue } from '../../mcp/index.ts'
import { fromFile, readText } from '../input.ts'
import { type Io } from '../io.ts'

export interface GivenArguments {
  /** A JSON object, or `-`. */
  readonly text: string | undefined
  /** File whose text is the argument `input`, or `-`. */
  readonly file: string | undefined
  /** Each `name=text` or `name:=json`. */
  readonly named: readonly string[]
}

/** Undefined when none were given. @throws {CtError} `ERR_USAGE` */
export async function readArguments(io: Io, { text, file, named }: GivenArguments): Promise<JsonObject | undefined> {
  if (text !== undefined && file !== undefined)
    throw new CtError('ERR_USAGE', 'expected arguments or --input, found both')
  const pairs = named.map(parseNamed)
  const whole = text === undefined ? undefined : parseArguments(text === '-' ? await readFrom(io, '-') : text)
  const input = file === undefined ? undefined : { input: await readFrom(io, file) }
  const base = whole ?? input
  if (base === undefined && pairs.length === 0) return undefined
  const all = [...Object.entries(base ?? {}), ...pairs]
  refuseTwice(all.map(([name]) => name))
  return Object.fromEntries(all)
}

/** What comes before the first `=` is the name; with `:=` the value is JSON, else it is text as it stands. */
function parseNamed(given: string): readonly [string, JsonValue] {
  const [, name, mark, value = ''] = /^([^=]*?)(:?=)(.*)$/s.exec(given) ?? []
  if (name === undefined || name === '') {
    throw new CtError('ERR_USAGE', `expected --arg name=text or name:=json, found ${quote(given)}`)
  }
  return [name, mark === '=' ? value : toJsonValue(parseJson(value, `the JSON of --arg ${name}`))]
}

function refuseTwice(names: readonly string[]): void {
  const seen = new Set<string>()
  // Those of an object may be many.
  const twice = names.find((name) => seen.size === seen.add(name).size)
  if (twice !== undefined) throw new CtError('ERR_USAGE', `expected each argument once, found ${quote(twice)} twice`)
}

function parseArguments(text: string): JsonObject {
  const value = parseJson(text, 'the arguments to be JSON')
  if (isExactObject(value)) return toJsonValue(value)
  throw new CtError('ERR_USAGE', `expected the arguments to be a JSON object, found ${quote(text)}`)
}

function parseJson(text: string, expected: string): ExactJson {
  try {
    return parseIntegersExactly(text)
  } catch (error) {
    throw new CtError('ERR_USAGE', `expected ${expected}, found ${quote(text)}`, { cause: error })
  }
}

function readFrom({ stdin }: Io, file: string): Promise<string> {
  return file === '-' ? readText(stdin, 'stdin') : fromFile(file, (source) => readText(source, file))
}
