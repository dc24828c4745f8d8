import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fixture, temporaryPath } from './processes.ts'
import { type Served, serveHandler } from './serve-handler.ts'

const WEATHER = {
  title: 'Weather',
  description: 'Tells the weather of a city',
  input: {
    type: 'object',
    properties: {
      city: { type: 'string', minLength: 1 },
      days: { type: 'integer', minimum: 1, maximum: 7 },
      unit: { enum: ['C', 'F'] },
      code: { type: 'string', pattern: '^[a-z]+$' },
      at: { type: 'array', items: { type: ['number', 'null'] }, maxItems: 2 },
      big: { type: 'integer' },
    },
    required: ['city'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
}

function serveSchema(command: string, schema: unknown, env: Readonly<Record<string, string>> = {}): Served {
  const path = temporaryPath()
  writeFileSync(path, typeof schema === 'string' ? schema : JSON.stringify(schema))
  return serveHandler(command, { env: { CT_AGENT_SERVICE_ECHO_SCHEMA: path, ...env } })
}

const WARM = `echo '{"celsius":20.5}'`

const misfits: readonly (readonly [unknown, string])[] = [
  [{}, 'expected a member "city", found none'],
  [{ city: 1 }, 'at /city expected a string, found 1'],
  [{ city: '' }, 'at /city expected at least 1 characters, found ""'],
  [{ city: 'x', days: 9 }, 'at /days expected a number <= 7, found 9'],
  [{ city: 'x', days: 1.5 }, 'at /days expected an integer, found 1.5'],
  [{ city: 'x', unit: 'K' }, 'at /unit expected one of ["C","F"], found "K"'],
  [{ city: 'x', code: 'A' }, 'at /code expected text that matches "^[a-z]+$", found "A"'],
  [{ city: 'x', at: [1, {}] }, 'at /at/1 expected a number or null, found an object'],
  [{ city: 'x', at: [1, 2, 3] }, 'at /at expected at most 2 items, found an array of 3'],
  [{ city: 'x', toString: 1 }, 'expected no member "toString", found one'],
  [[], 'expected an object, found an array of 0'],
]

describe('a service with schemas', () => {
  it('lists them, with what is said of it', async () => {
    const { tools } = await serveSchema(WARM, WEATHER).ready
    expect(tools).toMatchObject([
      {
        name: 'service/echo',
        title: 'Weather',
        description: 'Tells the weather of a city',
        inputSchema: WEATHER.input,
        outputSchema: WEATHER.output,
        idempotent: false,
      },
    ])
  })

  it('gives the handler the arguments as one line, and the caller its JSON', async () => {
    const command = 'read -r line; read -r more; echo "$line$more" >&2; [ -z "$more" ] && echo \'{"celsius":1}\''
    const { callWith, lines } = serveSchema(command, WEATHER)
    const argumentsText = '{ "city": "x",\n "big": 12345678901234567890,\n "city": "Köln" }'
    expect(await callWith(JSON.parse(argumentsText), { argumentsText })).toEqual({ celsius: 1 })
    expect(lines[0]?.facts['stderr']).toBe('{"city":"Köln","big":12345678901234567890}\n')
  })

  for (const [args, problem] of misfits) {
    it(`refuses ${JSON.stringify(args)} and says where it does not fit`, async () => {
      await expect(serveSchema(WARM, WEATHER).callWith(args)).rejects.toMatchObject({
        code: 'ERR_CALL_INVALID',
        message: `the arguments do not fit the service: ${problem}`,
      })
    })
  }

  it('keeps the words of a refusal short, however long what was sent', async () => {
    const { callWith } = serveSchema(WARM, WEATHER)
    const refused = await callWith({ city: 'x', ['y'.repeat(100_000)]: 1 }).catch((error: unknown) => error)
    expect(String(refused).length).toBeLessThan(600)
  })

  it('takes no member that every object inherits for one that was sent', async () => {
    const { callWith } = serveSchema(WARM, { ...WEATHER, input: { type: 'object', required: ['toString'] } })
    await expect(callWith({})).rejects.toMatchObject({ message: /expected a member "toString", found none/ })
    expect(await callWith({ toString: 1 })).toEqual({ celsius: 20.5 })
  })

  it('refuses a number that no double holds', async () => {
    const { callWith } = serveSchema(WARM, { ...WEATHER, input: { type: 'object' } })
    const argumentsText = '{"n":1e999}'
    await expect(callWith(JSON.parse(argumentsText), { argumentsText })).rejects.toMatchObject({
      code: 'ERR_CALL_INVALID',
    })
  })

  it('refuses arguments beyond 4 MiB', async () => {
    await expect(serveSchema(WARM, WEATHER).callWith({ city: 'x'.repeat(4_194_304) })).rejects.toMatchObject({
      code: 'ERR_CALL_INVALID',
      message: /too large/,
    })
  })

  for (const [output, problem] of [
    ['warm', 'expected JSON, found something else'],
    ['{"celsius":"secret"}', 'at /celsius expected a number, found a string'],
    ['[1]', 'expected an object, found an array of 1'],
    ['['.repeat(600), 'expected output nested at most 256 deep, found more'],
  ]) {
    it(`is a tool error when the handler prints ${output?.slice(0, 30)}, and the log says so`, async () => {
      const { callWith, lines } = serveSchema(`echo '${output}'`, WEATHER)
      const reason = `service handler gave an output that does not fit the service: ${problem}`
      await expect(callWith({ city: 'x' })).rejects.toMatchObject({
        code: 'ERR_TOOL_FAILED',
        message: `${reason} (reference ref-1)`,
      })
      expect(lines).toMatchObject([{ level: 'warn', event: 'service.failed', facts: { reason, reference: 'ref-1' } }])
    })
  }

  it('keeps every digit of what a worker gives', async () => {
    const { callWith } = serveSchema(
      `exec '${process.execPath}' '${fixture('worker.ts')}'`,
      { input: { type: 'object' }, output: { type: 'object', properties: { n: { type: 'integer' } } } },
      { CT_AGENT_SERVICE_HANDLER_MODE: 'worker' },
    )
    expect(await callWith({ n: 12 })).toEqual({ n: 12 })
  })
})

const object = { type: 'object' }
const malformed: readonly (readonly [string, unknown, RegExp])[] = [
  ['no JSON', '{', /: expected JSON: /],
  ['no object', '[]', /: expected an object, found an array of 0$/],
  [
    'an unknown member',
    { input: object, outptu: object },
    /at \/outptu: .* found "outptu"; did you mean output\?|at \/outptu/,
  ],
  ['no output', { input: object }, /at \/output: expected a schema, found none$/],
  [
    'a root that is no object',
    { input: { type: 'string' }, output: object },
    /at \/input\/type: expected "object", found "string"$/,
  ],
  [
    'a misspelt word',
    { input: { ...object, requried: [] }, output: object },
    /at \/input\/requried: expected a word of JSON Schema 2020-12 or x-…, found "requried"/,
  ],
  [
    'a misspelt word inside',
    { input: { ...object, properties: { 'a/b': { typ: 'x' } } }, output: object },
    /at \/input\/properties\/a~1b\/typ: /,
  ],
  [
    'an unknown type',
    { input: object, output: { ...object, properties: { a: { type: 'strin' } } } },
    /at \/output\/properties\/a\/type: /,
  ],
  [
    'a bad pattern',
    { input: { ...object, properties: { a: { pattern: '(' } } }, output: object },
    /at \/input: .*regular expression/i,
  ],
  [
    'another document',
    { input: { ...object, properties: { a: { $ref: 'http://x/y' } } }, output: object },
    /at \/input\/properties\/a\/\$ref: /,
  ],
  [
    'a place that is not there',
    { input: { ...object, $ref: '#/$defs/no' }, output: object },
    /at \/input: .*#\/\$defs\/no/,
  ],
  [
    'an older dialect',
    { input: { ...object, $schema: 'http://json-schema.org/draft-07/schema#' }, output: object },
    /at \/input\/\$schema: expected https:/,
  ],
]

describe('a schema file', () => {
  for (const [name, schema, problem] of malformed) {
    it(`with ${name} is refused by name and place`, async () => {
      const error: unknown = await serveSchema(WARM, schema).ready.catch((thrown: unknown) => thrown)
      expect(error).toMatchObject({ code: 'ERR_CONFIG_INVALID', message: expect.stringMatching(problem) })
      expect(String(error)).toMatch(/CT_AGENT_SERVICE_ECHO_SCHEMA invalid: "\/.*pids"/)
    })
  }

  it('that is not there is refused', async () => {
    const { ready } = serveHandler('cat', { env: { CT_AGENT_SERVICE_ECHO_SCHEMA: '/no/such/file' } })
    await expect(ready).rejects.toMatchObject({ code: 'ERR_CONFIG_INVALID', message: /ENOENT/ })
  })

  it('may have definitions, words with x-, and the dialect in it', async () => {
    const schema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      $id: 'https://example.org/same',
      'x-origin': 'model',
      type: 'object',
      properties: { next: { $ref: '#/$defs/node' } },
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } }, additionalProperties: false } },
    }
    const { callWith } = serveSchema('cat', { input: schema, output: schema })
    expect(await callWith({ next: { next: {} } })).toEqual({ next: { next: {} } })
    await expect(callWith({ next: { next: { n: 1 } } })).rejects.toMatchObject({
      message: /at \/next\/next expected no member "n"/,
    })
  })
})
