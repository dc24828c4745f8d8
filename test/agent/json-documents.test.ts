import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonDocument, JsonDocuments } from '../../src/agent/artefacts/json-documents.ts'

/** The documents of a text that comes in these pieces: their texts, or `undefined` for what is none. */
function split(pieces: readonly (string | Uint8Array)[], maxBytes?: number): readonly (string | undefined)[] {
  const documents = new JsonDocuments(maxBytes)
  const found: JsonDocument[] = []
  for (const piece of pieces) found.push(...documents.push(Buffer.from(piece)))
  found.push(...documents.end())
  expect(found.map(({ index }) => index)).toEqual(found.map((_, index) => index + 1))
  return found.map((document) => {
    if ('text' in document) return document.text
    expect(document.problem.code).toBe('ERR_ARTEFACT_INVALID')
    return undefined
  })
}

/** Every byte a piece of its own. */
function inBytes(text: string | Uint8Array): readonly Uint8Array[] {
  return [...Buffer.from(text)].map((byte) => Uint8Array.of(byte))
}

const A = '{"a":"}{\\"[]\\\\"}'
const B = '{"b":[1,{"c":"\\u007d,"}]}'

const cases: readonly (readonly [string, string, readonly (string | undefined)[]])[] = [
  ['nothing', '', []],
  ['blanks alone', ' \n\t\r\n', []],
  ['one document', A, [A]],
  ['one document among blanks', `\n ${A}\r\n`, [A]],
  ['one document on several lines', '{\n  "a": {\n    "b": 1\n  }\n}\n', ['{\n  "a": {\n    "b": 1\n  }\n}']],
  ['a valid document with a brace that begins a line', '{"a":\n{"b":1}}', ['{"a":\n{"b":1}}']],
  ['a byte order mark', `\ufeff${A}`, [A]],
  ['a byte order mark before an array', `\ufeff[${A}]`, [A]],
  ['documents after each other', `${A}${B} ${A}`, [A, B, A]],
  ['documents on lines', `${A}\n${B}\r\n${A}`, [A, B, A]],
  ['an array of documents', `[${A},${B}]`, [A, B]],
  ['an array on lines', `[\n  ${A},\n  ${B}\n]\n`, [A, B]],
  ['an empty array', '[ ]', []],
  ['a truncated document', A.slice(0, -1), [undefined]],
  ['a document that ends in a text', '{"a":"b', [undefined]],
  ['a line that is truncated in a text', `${A}\n{"x":"y\n${B}`, [A, undefined, B]],
  ['a line that is truncated after a colon', `${A}\n{"x":\n${B}\n${A}`, [A, undefined, B, A]],
  ['a line that is truncated in an array', `{"x":[\n${B}`, [undefined, B]],
  ['a line without its first half', `"b":1}\n${B}`, ['"b":1}', B]],
  ['a line that is truncated after a comma', `{"x":1,\n${B}\n${A}\n${B}`, [undefined, B, A, B]],
  ['a document that begins in another', `{"x":1 {"y":2}}\n${B}`, [undefined, B]],
  ['brackets that do not match', `{"a":[1}]\n${B}`, [undefined, B]],
  ['words between documents', `${A}\nnonsense here\n${B}`, [A, 'nonsense here', B]],
  ['words after the last document', `${A} x`, [A, 'x']],
  ['commas between documents without an array', `${A},\n${B}`, [A, ',', B]],
  ['a list as the second document', `${A}[1]`, [A, '[1]']],
  ['an array that is truncated after an element', `[${A}`, [A, undefined]],
  ['an array that is truncated after a comma', `[${A},`, [A, undefined]],
  ['an array that is truncated in an element', `[${A},{"b"`, [A, undefined]],
  ['an array with no comma', `[${A} ${B}]`, [A, undefined]],
  ['an array with two commas', `[${A},,${B}]`, [A, undefined]],
  ['an array with a comma at its end', `[${A},]`, [A, undefined]],
  ['an array with a comma at its start', `[,${A}]`, [undefined]],
  ['an array of other things', '[1, null,"x"]', ['1', 'null', '"x"']],
  ['a broken element of an array on lines', `[\n{"x":\n${A},\n${B}\n]`, [undefined, A, B]],
  ['words after an array', `[${A}] x`, [A, undefined]],
  ['an array after an array', `[${A}][${B}]`, [A, undefined]],
  ['an open bracket alone', '[', [undefined]],
]

describe('JsonDocuments', () => {
  for (const [name, text, expected] of cases) {
    it(`splits ${name}, in one piece or in many`, () => {
      expect(split([text])).toEqual(expected)
      expect(split(inBytes(text))).toEqual(expected)
    })
  }

  it('keeps to the longest document that is allowed', () => {
    const exact = `{"a":"${'x'.repeat(92)}"}`
    expect(exact).toHaveLength(100)
    for (const text of [exact, `${exact}\n`, `[${exact}]`]) expect(split([text], 100)).toEqual([exact])
    for (const text of [exact, `${exact}\n${A}\n`]) {
      const found = text === exact ? [undefined] : [undefined, A]
      expect(split([text], 99)).toEqual(found)
      expect(split(inBytes(text), 99)).toEqual(found)
    }
  })

  it('keeps no more than that of a document without an end', () => {
    const documents = new JsonDocuments(1_000)
    const push = (text: string) => documents.push(Buffer.from(text))
    expect(push(`{"a":"${'x'.repeat(2_000)}`)).toHaveLength(1)
    for (let piece = 0; piece < 1_000; piece += 1) expect(push('x'.repeat(1_000))).toEqual([])
    expect(push(`\n${A}`)).toEqual([{ index: 2, text: A }])
  })

  it('refuses what nests too deep as soon as it does', () => {
    const found = new JsonDocuments().push(Buffer.from('{"a":'.repeat(257)))
    expect(found).toMatchObject([{ index: 1, problem: { code: 'ERR_ARTEFACT_INVALID' } }])
  })

  it('looks at every character once where every line opens what never closes', () => {
    const lines = 100_000
    // Two brackets a line: 128 lines and the bracket on the next are one document that nests too deep. What is left at
    // the end nests less deep, and is looked at again line by line.
    expect(split(['{"a":[\n'.repeat(lines)])).toHaveLength(Math.floor(lines / 129) + (lines % 129))
  })

  const hopeless: Readonly<Record<string, string>> = {
    'end in the middle': '',
    'end in a bracket of the other kind': '}',
    'end in another document': '{}',
    'end in a text on two lines': '"\n"',
  }
  for (const [what, ending] of Object.entries(hopeless)) {
    it(`looks at every byte twice at most where many documents ${what}`, () => {
      const opening = '{"a":[\n'.repeat(120)
      const filler = '1,'.repeat(500_000)
      const text = Buffer.from(`${opening}${filler}1${ending}\n`.repeat(3))
      const began = performance.now()
      const found = split([text])
      // Looking from every line to the end anew takes a hundred times as long.
      expect(performance.now() - began).toBeLessThan(2_500)
      expect(found.filter((document) => document === undefined).length).toBeGreaterThanOrEqual(360)
    })
  }

  it('finds the same after a document that does not end as without it', () => {
    const line = fc.constantFrom(A, B, ' ', '{', '{"x":[', '{"x":', '"y"', '1,', ']', '}', `  ${A}`, `${A},`)
    fc.assert(
      fc.property(fc.array(line, { maxLength: 20 }), (lines) => {
        const rest = `\n{"z":\n${lines.join('\n')}\n]`
        const [first, ...others] = split([`{"q":[${rest}`])
        if (first === undefined) expect(others).toEqual(split([rest]))
      }),
      { numRuns: 2_000 },
    )
  })

  it('refuses bytes that are no text, and no more than the document that has them', () => {
    const bad = Buffer.from([0xff, 0xc3, 0x28])
    const apart = Buffer.concat([Buffer.from(`${A}\n{"x":"`), bad, Buffer.from(`"}\n${B}`)])
    const inArray = Buffer.concat([Buffer.from(`[${A},{"x":"`), bad, Buffer.from(`"},${B}]`)])
    for (const bytes of [apart, inArray]) {
      expect(split([bytes])).toEqual([A, undefined, B])
      expect(split(inBytes(bytes))).toEqual([A, undefined, B])
    }
    expect(split([bad, '\n', A])).toEqual([undefined, A])
  })

  it('takes a text of many bytes for each character as it takes others', () => {
    const wide = `{"a":"${'ü€😀'.repeat(50)}"}`
    expect(split([wide])).toEqual([wide])
    expect(split(inBytes(`[${wide},${wide}]`))).toEqual([wide, wide])
  })

  const json = fc.json({ maxDepth: 4 }).map((value) => `{"k":${value}}`)
  const blank = fc.constantFrom('', ' ', '\n', '\r\n\t')

  it('finds every document again, however they are joined', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 5 }), blank, fc.boolean(), (documents, between, inArray) => {
        const text = inArray
          ? `${between}[${documents.join(`${between},${between}`)}${between}]${between}`
          : documents.join(between)
        expect(split([text])).toEqual(documents)
      }),
    )
  })

  it('finds every document again when it is laid out for people', () => {
    fc.assert(
      fc.property(fc.array(json, { maxLength: 5 }), (documents) => {
        const shown = documents.map((text) => JSON.stringify(JSON.parse(text), null, 2))
        expect(split([shown.join('\n')])).toEqual(shown)
      }),
    )
  })

  it('finds the same whatever the text and however it is cut into pieces', () => {
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      '\\',
      ',',
      ':',
      '\n',
      '\n{',
      ' ',
      'a',
      '1',
      '{"a":1}',
      '\ufeff',
    )
    fc.assert(
      fc.property(fc.array(token, { maxLength: 60 }), fc.array(fc.nat(8), { maxLength: 60 }), (tokens, sizes) => {
        const text = tokens.join('')
        const bytes = Buffer.from(text)
        const pieces: Uint8Array[] = []
        let at = 0
        for (const size of sizes) {
          pieces.push(bytes.subarray(at, at + size))
          at += size
        }
        pieces.push(bytes.subarray(at))
        const whole = split([text], 40)
        expect(split(pieces, 40)).toEqual(whole)
        expect(split(inBytes(text), 40)).toEqual(whole)
      }),
      { numRuns: 2_000 },
    )
  })
})
