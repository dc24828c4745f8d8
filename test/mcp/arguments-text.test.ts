import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { generateInstanceId } from '../../src/core/keys.ts'
import { type CallTag } from '../../src/core/link.ts'
import { readEnvelopeText } from '../../src/mcp/wire/envelope.ts'
import { settle } from './port-pair.ts'
import { type Served, serve, toolOf } from './serve.ts'

const U64_MAX = '18446744073709551615'

/** A server whose one tool and one method note what they are given. */
function listening(): { readonly served: Served; readonly seen: { args: unknown; text: string }[] } {
  const seen: { args: unknown; text: string }[] = []
  const look = toolOf('look', (args, { argumentsText }) => {
    seen.push({ args, text: argumentsText })
    return null
  })
  const methods = new Map([
    [
      'own/look',
      (args: unknown, { paramsText }: { readonly paramsText: string }) => {
        seen.push({ args, text: paramsText })
        return null
      },
    ],
  ])
  return { served: serve({ tools: [look], methods }), seen }
}

async function argumentsOf(message: string): Promise<readonly string[]> {
  const { served, seen } = listening()
  await served.exchange(message)
  return seen.map(({ text }) => text)
}

function request(params: string, id = 1): string {
  return `{"jsonrpc":"2.0","id":${id},"method":"tools/call"${params}}`
}

const rows: readonly { name: string; params: string; text: string }[] = [
  { name: 'by name', params: `,"params":{"name":"look","arguments":{"n":${U64_MAX}}}`, text: `{"n":${U64_MAX}}` },
  { name: 'by position', params: `,"params":[ "look" , {"n": ${U64_MAX}} , 3]`, text: `{"n": ${U64_MAX}}` },
  {
    name: 'with blanks, and digits that a number would lose',
    params: ',\n"params" : {"name":"look", "arguments" :\t{ "f" : 1.0 ,"e":1e3}\r\n}\n',
    text: '{ "f" : 1.0 ,"e":1e3}',
  },
  {
    name: 'of the last of several',
    params: ',"params":{"arguments":{"a":1}},"params":{"arguments":{"a":2},"name":"look","arguments":{"a":3}}',
    text: '{"a":3}',
  },
  {
    name: 'under keys that are written with escapes',
    params:
      ',"p\\u0061ra\\u006Ds":{"name":"look","\\u0061\\u0072\\u0067\\u0075\\u006d\\u0065\\u006e\\u0074\\u0073":{"a":1}}',
    text: '{"a":1}',
  },
  {
    name: 'of the last of several, whose key is written with escapes',
    params: ',"params":{"name":"look","arguments":{"a":1},"\\u0061rguments":{"a":2}}',
    text: '{"a":2}',
  },
  {
    name: 'beside keys that only look alike',
    params: ',"params":{"name":"look","arguments":{"a":1},"\\\\u0061rguments":{"a":2},"argument\\u0053":{"a":3}}',
    text: '{"a":1}',
  },
  {
    name: 'beside members of the same name further in',
    params:
      ',"params":{"_meta":{"arguments":{"a":0}},"name":"look","arguments":{"arguments":{"a":1}},"x":[{"arguments":2}]}',
    text: '{"arguments":{"a":1}}',
  },
  { name: 'that are no object', params: `,"params":{"name":"look","arguments":${U64_MAX}}`, text: U64_MAX },
  { name: 'that are text with brackets', params: ',"params":["look","}],{\\"\\\\"]', text: '"}],{\\"\\\\"' },
  { name: 'that are null, as none', params: ',"params":{"name":"look","arguments":null}', text: '{}' },
  { name: 'that are null by position, as none', params: ',"params":["look",null]', text: '{}' },
  { name: 'that are absent, as none', params: ',"params":{"name":"look"}', text: '{}' },
  { name: 'that are absent by position, as none', params: ',"params":["look"]', text: '{}' },
]

describe('argumentsText', () => {
  for (const { name, params, text } of rows) {
    it(`is that of arguments ${name}`, async () => expect(await argumentsOf(request(params))).toEqual([text]))
  }

  it('is that of each member of a batch', async () => {
    const members = rows.map(({ params }, index) => request(params, index))
    expect(await argumentsOf(` [\n1, ${members.join(' ,\t')} ]`)).toEqual(rows.map(({ text }) => text))
  })

  it('is there for tagged calls', async () => {
    const { served, seen } = listening()
    const tag: CallTag = { instance: generateInstanceId(), sequence: 1, acknowledgedBelow: 1, resent: false }
    served.tell(request(`,"params":{"name":"look","arguments":{"n":${U64_MAX}}}`), tag)
    await settle()
    expect(seen.map(({ text }) => text)).toEqual([`{"n":${U64_MAX}}`])
  })

  it('means what the arguments are, whatever surrounds them', async () => {
    const { served, seen } = listening()
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue(),
        fc.jsonValue(),
        fc.boolean(),
        fc.constantFrom(0, 2, '\t'),
        async (args, other, byName, indent) => {
          seen.length = 0
          const params = byName ? { before: other, name: 'look', arguments: args, after: other } : ['look', args, other]
          served.pair.server.deliver(
            encodeUtf8(JSON.stringify({ z: other, jsonrpc: '2.0', params, id: 1, method: 'tools/call' }, null, indent)),
          )
          await settle()
          expect(seen.map(({ text }) => JSON.parse(text))).toEqual([JSON.parse(JSON.stringify(args ?? {}))])
          expect(seen[0]?.args).toEqual(JSON.parse(seen[0]?.text ?? ''))
        },
      ),
    )
  })

  it('is not looked for unless it is asked for', () => {
    const text = request(',"params":{"name":"look","arguments":{}}')
    const envelope = readEnvelopeText(text)
    if (envelope.kind !== 'request') throw new Error(envelope.kind)
    expect(envelope.source('params')).toBe('{"name":"look","arguments":{}}')
    expect(envelope.source('absent')).toBeUndefined()
  })
})

describe('paramsText', () => {
  const own = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"own/look"${params}}`
  const texts: readonly (readonly [string, string])[] = [
    [`,"params":{"n":${U64_MAX}, "f":1.0}`, `{"n":${U64_MAX}, "f":1.0}`],
    [`,"params":{"n":1},"p\\u0061rams": [${U64_MAX}] `, `[${U64_MAX}]`],
    [',"params":null', '{}'],
    ['', '{}'],
  ]
  for (const [params, text] of texts) {
    it(`is ${text} for a request${params === '' ? ' without any' : ` with ${params}`}`, async () => {
      expect(await argumentsOf(own(params))).toEqual([text])
    })
  }
})
