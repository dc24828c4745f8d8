import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { onOneLine, printResult, withoutBlanks } from '../../src/agent/result.ts'
import { fakeIo } from './fake-io.ts'

const HOSTILE = 'a\tb\nc\u001b]0;owned\u0007\u009b2J\u202e\u2028\r'

describe('printResult', () => {
  it('leaves every byte as it is where no terminal shows it', async () => {
    const { io, stdout } = fakeIo()
    await printResult(io, HOSTILE)
    expect(stdout.text).toBe(`${HOSTILE}\n`)
  })

  it('escapes on a terminal what could steer it, and keeps lines and tabs', async () => {
    const { io, stdout } = fakeIo({ isTTY: true })
    await printResult(io, HOSTILE)
    expect(stdout.text).toBe('a\tb\nc\\u001b]0;owned\\u0007\\u009b2J\\u202e\\u2028\\u000d\n')
  })
})

describe('onOneLine', () => {
  it('keeps any JSON as it means, on one line', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('\t', 2, 1), (value, indent) => {
        const line = onOneLine(JSON.stringify(value, null, indent).replaceAll('\n', '\r\n'))
        expect(line).not.toMatch(/[\r\n]/)
        expect(JSON.stringify(JSON.parse(line))).toBe(JSON.stringify(value))
      }),
    )
  })

  it('leaves digits and blanks alone that JSON.parse would lose', () => {
    expect(onOneLine('{"n": 12345678901234567890,\n  "f":\n1.0}')).toBe('{"n": 12345678901234567890,"f":1.0}')
  })
})

describe('withoutBlanks', () => {
  it('writes any JSON as JSON.stringify does', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom('\t', 2, 0), (value, indent) => {
        const spaced = ` ${JSON.stringify(value, null, indent).replaceAll('\n', ' \r\n')}\n`
        expect(withoutBlanks(spaced)).toBe(JSON.stringify(value))
      }),
    )
  })

  it('leaves strings alone, and digits that JSON.parse would lose', () => {
    expect(withoutBlanks('{ "a \\" b\\\\" : "\\" ", "n":\t18446744073709551615 ,"f": 1.0 }')).toBe(
      '{"a \\" b\\\\":"\\" ","n":18446744073709551615,"f":1.0}',
    )
  })
})
