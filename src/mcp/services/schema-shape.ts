/**
 * Shapes of services that their operator describes by JSON Schema, in a file for each.
 *
 * Holds: what a handler gets fits its input schema, and what a caller gets its output schema. The handler gets the very
 * document that was checked: one key once, and every digit of its integers. A bad file is refused as a whole, by name
 * and place.
 *
 * @module
 */
import { encodeUtf8 } from '../../core/bytes.ts'
import { quote } from '../../core/env.ts'
import { CtError, toCtError } from '../../core/errors.ts'
import { readJsonValue } from '../../core/exact-json.ts'
import { isJsonObject, type JsonObject, type JsonValue, MAX_NESTING, nestsTooDeep } from '../../core/json.ts'
import { valueInWords } from '../../core/json-kinds.ts'
import { didYouMean } from '../../core/nearest.ts'
import { printable } from '../../core/printable.ts'
import { type CheckValue, type CompileSchema } from '../../core/schema-compiler.ts'
import { misfitText } from '../../core/schema-misfit.ts'
import { type SchemaProblem } from '../../core/schema-words.ts'
import { type ObjectSchema } from '../tool.ts'
import { type HandlerInput, type HandlerShape, type OutputProblem, refuseLarge } from './handler-shape.ts'

/** Where the schemas of one service are. */
export interface SchemaFile {
  /** The variable that names it. */
  readonly variable: string
  readonly path: string
}

const MEMBERS: readonly string[] = ['title', 'description', 'input', 'output']
const MAX_PROBLEM_CHARS = 500

/**
 * The shape that a file describes.
 *
 * @param readText reads a small file; what it throws is told with the variable's name
 * @throws {CtError} `ERR_CONFIG_INVALID`
 */
export function readSchemaShape(
  slug: string,
  file: SchemaFile,
  readText: (path: string) => string,
  compile: CompileSchema,
): HandlerShape {
  const document = readDocument(file, readText)
  const unknown = Object.keys(document).find((name) => !MEMBERS.includes(name))
  if (unknown !== undefined) {
    const problem = `expected ${MEMBERS.join(', ')}, found ${quote(unknown)}${didYouMean(unknown, MEMBERS)}`
    throw malformed(file, { pointer: `/${unknown}`, problem })
  }
  const text = (name: 'title' | 'description'): string | undefined => {
    const value = document[name]
    if (value === undefined || typeof value === 'string') return value
    throw malformed(file, { pointer: `/${name}`, problem: `expected a string, found ${valueInWords(value)}` })
  }
  const part = (name: 'input' | 'output') => {
    const schema = rootOf(document[name], `/${name}`)
    if ('problem' in schema) throw malformed(file, schema as SchemaProblem)
    const check = compile(schema, `/${name}`)
    if (typeof check !== 'function') throw malformed(file, check)
    return { schema: { ...schema, properties: schema['properties'] ?? {} } as ObjectSchema, check }
  }
  const [input, output, title] = [part('input'), part('output'), text('title')]
  return {
    ...(title === undefined ? {} : { title }),
    description: text('description') ?? `${slug} service`,
    inputSchema: input.schema,
    outputSchema: output.schema,
    read: (args, argumentsText) => readArguments(args, argumentsText, input.check),
    result: ({ text: json }) => readOutput(json, output.check),
  }
}

/** @throws {CtError} `ERR_CONFIG_INVALID` */
function readDocument(file: SchemaFile, readText: (path: string) => string): JsonObject {
  let text: string
  try {
    text = readText(file.path)
  } catch (error) {
    throw new CtError('ERR_CONFIG_INVALID', `${file.variable} invalid: ${toCtError(error).message}`, { cause: error })
  }
  if (nestsTooDeep(text)) throw malformed(file, { pointer: '', problem: `expected at most ${MAX_NESTING} levels` })
  let document: JsonValue
  try {
    document = JSON.parse(text) as JsonValue
  } catch (error) {
    throw malformed(file, { pointer: '', problem: `expected JSON: ${error instanceof Error ? error.message : ''}` })
  }
  if (isJsonObject(document)) return document
  throw malformed(file, { pointer: '', problem: `expected an object, found ${valueInWords(document)}` })
}

/** MCP knows tools whose arguments and results are objects. */
function rootOf(schema: JsonValue | undefined, pointer: string): JsonObject | SchemaProblem {
  if (!isJsonObject(schema)) {
    return { pointer, problem: `expected a schema, found ${schema === undefined ? 'none' : valueInWords(schema)}` }
  }
  if (schema['type'] === 'object') return schema
  const found = schema['type'] === undefined ? 'none' : valueInWords(schema['type'])
  return { pointer: `${pointer}/type`, problem: `expected "object", found ${found}` }
}

function malformed({ variable, path }: SchemaFile, { pointer, problem }: SchemaProblem): CtError {
  const place = pointer === '' ? quote(path) : `${quote(path)} at ${printable(pointer, MAX_PROBLEM_CHARS)}`
  return new CtError('ERR_CONFIG_INVALID', `${variable} invalid: ${place}: ${printable(problem, MAX_PROBLEM_CHARS)}`, {
    detail: { variables: [variable] },
  })
}

/** By which programs tell that it is the arguments; the original has no such schemas. */
const MISFIT = 'arguments-misfit'

/** @throws {CtError} `ERR_CALL_INVALID` */
function readArguments(args: unknown, argumentsText: string, check: CheckValue): HandlerInput {
  const misfit = check(args)
  if (misfit !== undefined) {
    const { pointer, expected, found } = misfit
    throw new CtError('ERR_CALL_INVALID', `the arguments do not fit the service: ${misfitText(misfit, found)}`, {
      detail: { reason: MISFIT, pointer, expected, found },
    })
  }
  const document = onOneLine(argumentsText)
  const bytes = encodeUtf8(`${document}\n`)
  refuseLarge(bytes, 'arguments')
  return { bytes, json: () => document }
}

/** @throws {CtError} `ERR_CALL_INVALID` for what has no exact form */
function onOneLine(argumentsText: string): string {
  try {
    return JSON.stringify(readJsonValue(argumentsText))
  } catch (error) {
    throw new CtError('ERR_CALL_INVALID', 'expected arguments with numbers that fit a double', {
      cause: error,
      detail: { reason: MISFIT },
    })
  }
}

function readOutput(json: string, check: CheckValue): { readonly value: JsonValue } | OutputProblem {
  if (nestsTooDeep(json)) return { problem: `expected output nested at most ${MAX_NESTING} deep, found more` }
  try {
    const misfit = check(JSON.parse(json))
    if (misfit !== undefined) return { problem: misfitText(misfit, misfit.kind) }
    return { value: readJsonValue(json) }
  } catch {
    return { problem: 'expected JSON, found something else' }
  }
}
