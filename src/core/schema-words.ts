/**
 * The words of JSON Schema 2020-12, and what is wrong with a schema that uses others.
 *
 * Holds: a misspelt word is not taken for a schema that allows everything, as the standard would have it. No schema refers
 * to another document: nothing is fetched.
 *
 * @module
 */
import { quote } from './env.ts'
import { isJsonObject, type JsonObject, type JsonValue } from './json.ts'
import { valueInWords } from './json-kinds.ts'
import { didYouMean } from './nearest.ts'

/** What is wrong, and where: a JSON pointer. */
export interface SchemaProblem {
  readonly pointer: string
  readonly problem: string
}

export const DIALECT = 'https://json-schema.org/draft/2020-12/schema'

const SCHEMAS_BY_NAME = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']
const LISTS = ['allOf', 'anyOf', 'oneOf', 'prefixItems']
const SINGLE = [
  ...['items', 'contains', 'not', 'if', 'then', 'else', 'additionalProperties', 'propertyNames'],
  ...['unevaluatedItems', 'unevaluatedProperties', 'contentSchema'],
]
const OTHERS = [
  ...['$schema', '$id', '$anchor', '$dynamicAnchor', '$ref', '$dynamicRef', '$comment', 'type', 'enum', 'const'],
  ...['multipleOf', 'maximum', 'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength', 'pattern'],
  ...[
    'maxItems',
    'minItems',
    'uniqueItems',
    'maxContains',
    'minContains',
    'maxProperties',
    'minProperties',
    'required',
  ],
  ...['dependentRequired', 'title', 'description', 'default', 'deprecated', 'readOnly', 'writeOnly', 'examples'],
  ...['format', 'contentEncoding', 'contentMediaType'],
]
const WORDS: ReadonlySet<string> = new Set([...SCHEMAS_BY_NAME, ...LISTS, ...SINGLE, ...OTHERS])

/** The first problem with the words of a schema; what they hold is for the validator to check. */
export function problemWithWords(schema: JsonValue, pointer: string): SchemaProblem | undefined {
  if (typeof schema === 'boolean') return undefined
  if (!isJsonObject(schema)) return { pointer, problem: `expected a schema, found ${valueInWords(schema)}` }
  return unknownWord(schema, pointer) ?? wrongPlace(schema, pointer) ?? problemInside(schema, pointer)
}

function unknownWord(schema: JsonObject, pointer: string): SchemaProblem | undefined {
  const unknown = Object.keys(schema).find((word) => !WORDS.has(word) && !word.startsWith('x-'))
  if (unknown === undefined) return undefined
  return {
    pointer: `${pointer}/${escaped(unknown)}`,
    problem: `expected a word of JSON Schema 2020-12 or x-…, found ${quote(unknown)}${didYouMean(unknown, WORDS)}`,
  }
}

function wrongPlace({ $ref, $schema }: JsonObject, pointer: string): SchemaProblem | undefined {
  if (typeof $ref === 'string' && !$ref.startsWith('#')) {
    return { pointer: `${pointer}/$ref`, problem: `expected a place in this schema (#…), found ${quote($ref)}` }
  }
  if ($schema === undefined || (typeof $schema === 'string' && $schema.replace(/#$/, '') === DIALECT)) return undefined
  return { pointer: `${pointer}/$schema`, problem: `expected ${DIALECT}, found ${valueInWords($schema)}` }
}

function problemInside(schema: JsonObject, pointer: string): SchemaProblem | undefined {
  for (const [word, value] of Object.entries(schema)) {
    const place = `${pointer}/${word}`
    const inner: readonly (readonly [string, JsonValue])[] = SINGLE.includes(word)
      ? [['', value]]
      : partsOf(word, value)
    for (const [name, part] of inner) {
      const problem = problemWithWords(part, name === '' ? place : `${place}/${escaped(name)}`)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

function partsOf(word: string, value: JsonValue): readonly (readonly [string, JsonValue])[] {
  const hasParts = SCHEMAS_BY_NAME.includes(word) ? isJsonObject(value) : LISTS.includes(word) && Array.isArray(value)
  return hasParts ? Object.entries(value as JsonObject) : []
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
