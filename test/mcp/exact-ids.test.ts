import fc from 'fast-check'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { MAX_BATCH_MEMBERS, MAX_ID_CHARS, readEnvelopeText } from '../../src/mcp/wire/envelope.ts'

const LARGE = '9007199254740993'
const MIB = 1_048_576

afterEach(() => vi.restoreAllMocks())

/** What reading the text asks of `JSON.parse`: the lengths of the texts, and whether it had to call back. */
function parsesOf(read: () => unknown): { readonly chars: number; readonly revivers: number } {
  const parse = vi.spyOn(JSON, 'parse')
  read()
  const { calls } = parse.mock
  return {
    chars: calls.reduce((sum, [text]) => sum + text.length, 0),
    revivers: calls.filter(([, reviver]) => reviver !== undefined).length,
  }
}

describe('readEnvelopeText, for ids that lose digits as numbers', () => {
  const params = `[${'1,'.repeat(4 * MIB)}1]`
  const texts = {
    'a request of 8 MiB': `{"jsonrpc":"2.0","params":${params},"method":"m","id":${LARGE}}`,
    'a batch of 8 MiB': `[${Array.from({ length: MAX_BATCH_MEMBERS }, (_, index) => {
      const part = params.slice(0, 1 + 2 * Math.floor(params.length / 2 / MAX_BATCH_MEMBERS - 1))
      return `{"jsonrpc":"2.0","method":"m","params":${part}1],"id":${LARGE}${index}}`
    }).join(',')}]`,
  }
  for (const [name, text] of Object.entries(texts)) {
    it(`reads ${name} once, without a callback for every value`, () => {
      const parses = parsesOf(() => readEnvelopeText(text))
      expect(parses).toEqual({ chars: text.length, revivers: 0 })
    })
  }

  it('finds them behind blanks, strings with quotes and brackets, and members of the same name', () => {
    const text = ` \n{"a":"}\\"]{","b":[{"id":1},{"id":"x"}],"id" :\t${LARGE} ,"jsonrpc":"2.0","method":"m","c":{"id":2}} `
    expect(readEnvelopeText(text)).toMatchObject({ kind: 'request', id: LARGE })
  })

  it('takes the last of several, as the parser does, however its key is written', () => {
    const text = `{"id":9007199254740995,"jsonrpc":"2.0","method":"m","\\u0069\\u0064":${LARGE},"\\u0069x":1}`
    expect(readEnvelopeText(text)).toMatchObject({ kind: 'request', id: LARGE })
  })

  it('gives every member of a batch its own', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            id: fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }),
            before: fc.dictionary(fc.string(), fc.jsonValue()),
            after: fc.jsonValue(),
          }),
          { minLength: 1, maxLength: 5 },
        ),
        (members) => {
          const text = `[${members
            .map(({ id, before, after }) => {
              const first = JSON.stringify(before)
              return `{"params":${first},"id":${id},"jsonrpc":"2.0","method":"m","z":${JSON.stringify(after)}}`
            })
            .join(' , ')}]`
          expect(readEnvelopeText(text)).toMatchObject({ members: members.map(({ id }) => ({ id: String(id) })) })
        },
      ),
    )
  })

  const tooLong = { 'a string': `"${'x'.repeat(MAX_ID_CHARS + 1)}"`, 'an integer': '9'.repeat(MAX_ID_CHARS + 1) }
  for (const [name, id] of Object.entries(tooLong)) {
    it(`refuses ${name} so long that no answer could repeat it`, () => {
      expect(readEnvelopeText(`{"jsonrpc":"2.0","id":${id},"method":"m"}`)).toMatchObject({
        kind: 'invalid',
        id: 'null',
      })
    })
  }
})
