import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { type ExactJson, toJsonValue, writeExactJson } from '../../src/core/exact-json.ts'
import { type JsonValue } from '../../src/core/json.ts'
import { memberText } from '../../src/core/json-scan.ts'
import { callResultText, type Face } from '../../src/mcp/serving/faces.ts'
import { pingTool, type Tool } from '../../src/mcp/tool.ts'
import { resultOf, resultTextOf } from '../../src/mcp/wire/answer.ts'
import { serve, toolOf } from './serve.ts'

const INFO = { name: 'ct-agent', version: '1.2.3' }
const FACES: readonly Face[] = ['bare', 'full', 'modern']
const U64_MAX = 18_446_744_073_709_551_615n
const NO_LIMIT = Number.POSITIVE_INFINITY

function textOf(value: ExactJson, face: Face, limit = NO_LIMIT): string {
  return callResultText(toJsonValue(value), face, INFO, limit)
}

describe('callResultText, for integers beyond 2^53', () => {
  const values: readonly { name: string; value: ExactJson; structured: string; flat: readonly string[] }[] = [
    {
      name: 'a member',
      value: { units: U64_MAX, at: 1n },
      structured: `{"units":${U64_MAX},"at":1}`,
      flat: [`"units":${U64_MAX}`, '"at":1'],
    },
    {
      name: 'a member further in',
      value: { offer: { list: [[-U64_MAX]] } },
      structured: `{"offer":{"list":[[-${U64_MAX}]]}}`,
      flat: [`"offer":{"list":[[-${U64_MAX}]]}`],
    },
    { name: 'the value itself', value: U64_MAX, structured: `{"value":${U64_MAX}}`, flat: [] },
    { name: 'an item', value: [U64_MAX], structured: `{"value":[${U64_MAX}]}`, flat: [] },
    {
      name: 'members with a meaning of their own',
      value: { content: U64_MAX, _meta: U64_MAX, structuredContent: U64_MAX },
      structured: `{"content":${U64_MAX},"_meta":${U64_MAX},"structuredContent":${U64_MAX}}`,
      flat: [],
    },
    {
      name: 'members that only a result of another server may have',
      value: { content: [], _meta: U64_MAX },
      structured: `{"content":[],"_meta":${U64_MAX}}`,
      flat: [],
    },
    {
      name: 'structured content that is no object',
      value: { content: [], structuredContent: U64_MAX },
      structured: `{"content":[],"structuredContent":${U64_MAX}}`,
      flat: [],
    },
    {
      name: 'content that is none',
      value: { content: [U64_MAX] },
      structured: `{"content":[${U64_MAX}]}`,
      flat: [],
    },
  ]
  for (const { name, value, structured, flat } of values) {
    it(`writes ${name} to the digit in every face`, () => {
      const exact = writeExactJson(value)
      expect(textOf(value, 'bare')).toBe(exact)
      for (const face of ['full', 'modern'] as const) {
        const text = textOf(value, face)
        expect(text).not.toContain('rawJSON')
        expect(memberText(text, 0, 'structuredContent')).toBe(structured)
        expect(JSON.parse(text).content).toEqual([{ type: 'text', text: exact }])
        for (const member of flat) expect(text.replace(structured, '')).toContain(member)
      }
    })
  }

  it('passes them through in a result of another MCP server', () => {
    const value = { content: [], structuredContent: { n: U64_MAX }, _meta: { m: U64_MAX } }
    for (const face of FACES) {
      const text = textOf(value, face)
      expect(memberText(text, 0, 'structuredContent')).toBe(`{"n":${U64_MAX}}`)
      expect(memberText(text, 0, '_meta')).toContain(`"m":${U64_MAX}`)
    }
  })

  it('keeps them when the answer is shortened', () => {
    const value = { n: U64_MAX, output: 'x'.repeat(1_000) }
    const text = textOf(value, 'full', 1_400)
    expect(text.length).toBeLessThanOrEqual(1_400)
    expect(memberText(text, 0, 'structuredContent')).toBe(writeExactJson(value))
  })

  it('gives the value back in every face, whatever it is', () => {
    const { value: anyValue } = fc.letrec<{ value: ExactJson }>((tie) => ({
      value: fc.oneof(
        fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }),
        fc.string(),
        fc.constantFrom(null, true, false),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(fc.string(), tie('value'), { maxKeys: 3 }),
      ),
    }))
    fc.assert(
      fc.property(anyValue, (value) => {
        const exact = writeExactJson(value)
        expect(textOf(value, 'bare')).toBe(exact)
        const isObject = exact.startsWith('{')
        for (const face of ['full', 'modern'] as const) {
          const structured = memberText(textOf(value, face), 0, 'structuredContent')
          expect(structured).toBe(isObject ? exact : `{"value":${exact}}`)
        }
      }),
    )
  })
})

describe('resultTextOf', () => {
  const texts: readonly { name: string; text: string; result: string }[] = [
    { name: 'of an integer', text: `{"jsonrpc":"2.0","id":1,"result":${U64_MAX}}`, result: `${U64_MAX}` },
    {
      name: 'with the blanks inside it',
      text: `\r\n { "result" :\n{ "n" : ${U64_MAX} }\n, "id": 1, "jsonrpc":"2.0"}`,
      result: `{ "n" : ${U64_MAX} }`,
    },
    { name: 'of the last of several', text: '{"result":1,"id":1,"jsonrpc":"2.0","r\\u0065sult":2.0}', result: '2.0' },
  ]
  for (const { name, text, result } of texts) {
    it(`is the text ${name}`, () => {
      expect(resultTextOf({ text, result: JSON.parse(text).result as JsonValue })).toBe(result)
    })
  }

  it("throws the peer's error, as resultOf does", () => {
    const answer = { text: '{}', error: new CtError('ERR_TOOL_FAILED', 'no paper') }
    for (const read of [resultTextOf, resultOf]) {
      expect(() => read(answer)).toThrow(expect.objectContaining({ code: 'ERR_TOOL_FAILED' }))
    }
  })
})

describe('the reason of a failure', () => {
  const failing = (more: Partial<Tool> = {}, detail: Record<string, unknown> = { reason: 'over-capacity' }): Tool =>
    toolOf('fail', () => Promise.reject(new CtError('ERR_TOOL_FAILED', 'sold out', { detail })), more)
  const facts = { code: 'ERR_TOOL_FAILED', message: 'sold out', reason: 'over-capacity' }

  async function failWith(tool: Tool, face: Face): Promise<{ readonly text: string; readonly result: unknown }> {
    const served = serve({ tools: [tool, pingTool] })
    if (face === 'full') await served.ask('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}')
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const params = { name: 'fail', ...(face === 'modern' ? { _meta: meta } : {}) }
    const text = await served.ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }))
    return { text, result: JSON.parse(text).result }
  }

  for (const face of ['full', 'modern'] as const) {
    it(`stands beside the code in the ${face} face`, async () => {
      const { result } = await failWith(failing(), face)
      expect(result).toMatchObject({ isError: true, structuredContent: facts })
    })

    it(`stands in _meta for a tool with an output schema in the ${face} face`, async () => {
      const { result } = await failWith(failing({ outputSchema: { type: 'object', properties: {} } }), face)
      expect(result).toMatchObject({ isError: true, _meta: { 'ct-agent/error': facts } })
      expect(result).not.toHaveProperty('structuredContent')
    })

    it(`is absent when it is no text in the ${face} face`, async () => {
      const { result } = await failWith(failing({}, { reason: { secret: 1 }, other: 'x' }), face)
      expect(result).toMatchObject({ structuredContent: { code: facts.code, message: facts.message } })
      expect(JSON.stringify(result)).not.toMatch(/secret|other/)
    })
  }

  it('does not change the bare face', async () => {
    expect((await failWith(failing(), 'bare')).text).toBe(
      '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"sold out"}}',
    )
  })
})
