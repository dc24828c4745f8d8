/**
 * JSON Schemas made into checks of values. Everything of the validator's package is here, and loads it.
 *
 * Holds: a check neither changes the value nor runs anything but the schema; of a value it takes only what is its own,
 * not what every object inherits. `format` is a remark, as 2020-12 has it.
 *
 * @module
 */
import { Ajv2020 } from 'ajv/dist/2020.js'
import { type JsonValue } from './json.ts'
import { type Misfit, misfitOf, misfitText } from './schema-misfit.ts'
import { problemWithWords, type SchemaProblem } from './schema-words.ts'

/** `undefined` when the value fits. */
export type CheckValue = (value: unknown) => Misfit | undefined

/** Makes a check of a schema; the pointer is where it stands in its document. */
export type CompileSchema = (schema: JsonValue, pointer: string) => CheckValue | SchemaProblem

export function createCompiler(): CompileSchema {
  const ajv = new Ajv2020({
    strict: false,
    ownProperties: true,
    validateFormats: false,
    addUsedSchema: false,
    verbose: true,
    logger: false,
  })
  return (schema, pointer) => {
    const words = problemWithWords(schema, pointer)
    if (words !== undefined) return words
    const plain = schema as Record<string, unknown>
    if (ajv.validateSchema(plain) !== true) {
      const misfit = misfitOf(ajv.errors ?? [])
      return { pointer: `${pointer}${misfit.pointer}`, problem: misfitText({ ...misfit, pointer: '' }, misfit.found) }
    }
    try {
      const validate = ajv.compile(plain)
      return (value) => (validate(value) ? undefined : misfitOf(validate.errors ?? []))
    } catch (error) {
      return { pointer, problem: error instanceof Error ? error.message : String(error) }
    }
  }
}
