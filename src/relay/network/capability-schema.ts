/**
 * The JSON Schemas of capabilities, which strangers write, and values held against them.
 *
 * Holds: neither a schema nor a value costs more than a bounded time here, whatever patterns are in them.
 *
 * @module
 */
import { runBounded, TookTooLong } from '../../core/bounded-run.ts'
import { type JsonValue, MAX_NESTING, nestsTooDeep } from '../../core/json.ts'
import { type CheckValue, createCompiler } from '../../core/schema-compiler.ts'
import { misfitText } from '../../core/schema-misfit.ts'

const MAX_SCHEMA_BYTES = 65_536
/** Many times what an honest one needs on a machine that is busy. */
const COMPILE_MS = 1_000
const CHECK_MS = 250
/** Compiled schemas that are kept; who was used longest ago goes first. */
const MAX_COMPILED = 500

export const OPEN_OBJECT: JsonValue = { type: 'object' }

/** They say in other words what the newest does; what they say otherwise is refused by it. */
const OLDER_DIALECTS = /^https?:\/\/json-schema\.org\/draft(?:-0[67]|\/2019-09)\/schema#?$/

const compiled = new Map<string, CheckValue>()

/** What is wrong with a schema that somebody publishes. */
export function problemOfSchema(schema: JsonValue): string | undefined {
  const text = JSON.stringify(schema)
  const bytes = Buffer.byteLength(text)
  if (bytes > MAX_SCHEMA_BYTES) return `expected a schema of at most ${MAX_SCHEMA_BYTES} bytes, found ${bytes}`
  if (nestsTooDeep(text)) return `expected a schema nested at most ${MAX_NESTING} deep`
  const check = compile(text)
  return typeof check === 'string' ? check : undefined
}

/** What is wrong with a value that goes into a capability, or comes out of it. */
export function misfitOf(schemaText: string, value: unknown): string | undefined {
  const check = compile(schemaText)
  if (typeof check === 'string') return check
  try {
    const misfit = runBounded(CHECK_MS, () => check(value))
    return misfit === undefined ? undefined : misfitText(misfit, misfit.found)
  } catch (error) {
    if (!(error instanceof TookTooLong)) throw error
    return `expected a value that can be held against its schema within ${CHECK_MS} ms`
  }
}

function compile(text: string): CheckValue | string {
  const known = compiled.get(text)
  if (known !== undefined) {
    compiled.delete(text)
    compiled.set(text, known)
    return known
  }
  const check = compileAnew(withoutOlderDialect(JSON.parse(text) as JsonValue))
  if (typeof check === 'string') return check
  const [oldest] = compiled.keys()
  if (compiled.size >= MAX_COMPILED && oldest !== undefined) compiled.delete(oldest)
  compiled.set(text, check)
  return check
}

function compileAnew(schema: JsonValue): CheckValue | string {
  try {
    // A compiler of its own: what one schema names, another does not see. It is made ready outside of the time.
    const compileWith = createCompiler()
    compileWith(OPEN_OBJECT, '')
    const check = runBounded(COMPILE_MS, () => compileWith(schema, ''))
    if (typeof check === 'function') return check
    return `${check.pointer === '' ? '' : `at ${check.pointer}: `}${check.problem}`
  } catch (error) {
    return error instanceof TookTooLong ? `expected a schema that compiles within ${COMPILE_MS} ms` : String(error)
  }
}

function withoutOlderDialect(schema: JsonValue): JsonValue {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return schema
  const { $schema, ...rest } = schema as { readonly [name: string]: JsonValue }
  return typeof $schema === 'string' && OLDER_DIALECTS.test($schema) ? rest : schema
}
