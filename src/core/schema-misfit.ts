/**
 * Where a value does not fit its JSON Schema, in words: a JSON pointer, what was expected, what was found.
 *
 * Holds: the words are bounded, whatever the value and the schema are.
 *
 * @module
 */
import { quote } from './env.ts'
import { kindOf, valueInWords } from './json-kinds.ts'
import { printable } from './printable.ts'

/** What the validator says of one misfit. */
export interface SchemaError {
  readonly keyword: string
  readonly instancePath: string
  readonly params: Readonly<Record<string, unknown>>
  readonly message?: string
  /** The value that does not fit. */
  readonly data?: unknown
}

export interface Misfit {
  /** JSON pointer; empty for the whole value. */
  readonly pointer: string
  readonly expected: string
  /** Of the value only its kind. */
  readonly kind: string
  /** Short values as they are. */
  readonly found: string
}

const MAX_POINTER_CHARS = 200
const MAX_EXPECTED_CHARS = 200

/** Of several, the last: the validator stops at the first, and tells the alternatives of that before it. */
export function misfitOf(errors: readonly SchemaError[]): Misfit {
  const error = errors.at(-1)
  if (error === undefined) return { pointer: '', expected: 'something else', kind: 'a value', found: 'a value' }
  const member = MEMBERS[error.keyword]
  return {
    pointer: printable(error.instancePath, MAX_POINTER_CHARS),
    expected: printable(expectedBy(error), MAX_EXPECTED_CHARS),
    kind: member ?? kindOf(error.data),
    found: member ?? valueInWords(error.data),
  }
}

/** `at /a/0 expected a string, found a number` */
export function misfitText({ pointer, expected }: Misfit, found: string): string {
  return `${pointer === '' ? '' : `at ${pointer} `}expected ${expected}, found ${found}`
}

/** What is found of a member that should, or should not, be there. */
const MEMBERS: Readonly<Record<string, string>> = {
  required: 'none',
  dependentRequired: 'none',
  additionalProperties: 'one',
  unevaluatedProperties: 'one',
}

function expectedBy({ keyword, params, message = 'fits the schema' }: SchemaError): string {
  const bound = String(params['limit'])
  switch (keyword) {
    case 'type':
      return [params['type']].flat().map(nameOfType).join(' or ')
    case 'required':
    case 'dependentRequired':
      return `a member ${quote(String(params['missingProperty']))}`
    case 'additionalProperties':
      return `no member ${quote(String(params['additionalProperty']))}`
    case 'unevaluatedProperties':
      return `no member ${quote(String(params['unevaluatedProperty']))}`
    case 'enum':
      return `one of ${JSON.stringify(params['allowedValues'])}`
    case 'const':
      return JSON.stringify(params['allowedValue'])
    case 'pattern':
      return `text that matches ${quote(String(params['pattern']))}`
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return `a number ${String(params['comparison'])} ${bound}`
    case 'false schema':
      return 'nothing here'
    default:
      return SIZES[keyword]?.(bound) ?? `a value that ${message}`
  }
}

const SIZES: Readonly<Record<string, (bound: string) => string>> = {
  minLength: (bound) => `at least ${bound} characters`,
  maxLength: (bound) => `at most ${bound} characters`,
  minItems: (bound) => `at least ${bound} items`,
  maxItems: (bound) => `at most ${bound} items`,
  minProperties: (bound) => `at least ${bound} members`,
  maxProperties: (bound) => `at most ${bound} members`,
}

function nameOfType(type: unknown): string {
  const name = String(type)
  if (name === 'null') return name
  return `${/^[aio]/.test(name) ? 'an' : 'a'} ${name}`
}
