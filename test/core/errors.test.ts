import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { CtError, ERROR_CODES, isCtError, isErrorCode, toCtError } from '../../src/core/errors.ts'

const SENTENCE_RULE = /^(?![A-Z][a-z]).*[^.\s]$/s

describe('ERROR_CODES', () => {
  for (const [code, { exit, hint, retryable }] of Object.entries(ERROR_CODES)) {
    it(`gives ${code} an exit status of a failure and a hint`, () => {
      expect(code).toMatch(/^ERR_[A-Z]+(_[A-Z]+)*$/)
      expect(Number.isInteger(exit) && exit >= 1 && exit <= 255).toBe(true)
      expect(hint).toMatch(SENTENCE_RULE)
      expect(typeof retryable).toBe('boolean')
    })
  }
})

/** Code and literal beginning and end of every message in the sources. */
function messages(folder: string): { file: string; text: string }[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const source = readFileSync(`${folder}/${name}`, 'utf8')
      return [...source.matchAll(/new CtError\(\s*(?:'ERR_\w+'|[\w.]+),\s*(['`])((?:(?!\1).)*)\1/gs)].map(
        ([, , text]) => ({
          file: name,
          text: text ?? '',
        }),
      )
    })
}

describe('messages of errors', () => {
  for (const folder of ['src/agent', 'src/core', 'src/channel', 'src/mcp', 'src/offers']) {
    it(`begin in lower case and end without a full stop in ${folder}`, () => {
      const broken = messages(folder).filter(({ text }) => !SENTENCE_RULE.test(text))
      expect(broken).toEqual([])
    })
  }

  it('are found by this test', () => {
    expect(messages('src/channel').length).toBeGreaterThan(20)
  })
})

describe('CtError', () => {
  it('carries code, facts, cause and detail', () => {
    const cause = new Error('below')
    const error = new CtError('ERR_TIMEOUT', 'too slow', { cause, detail: { ms: 5 } })
    expect(error).toMatchObject({ name: 'CtError', code: 'ERR_TIMEOUT', message: 'too slow', cause, detail: { ms: 5 } })
    expect(error.facts).toBe(ERROR_CODES.ERR_TIMEOUT)
  })

  it('has no cause and an empty detail when none is given', () => {
    const error = new CtError('ERR_TIMEOUT', 'too slow')
    expect('cause' in error).toBe(false)
    expect(error.detail).toEqual({})
  })
})

describe('isCtError', () => {
  const error = new CtError('ERR_TIMEOUT', 'too slow')

  it('knows our errors, and those of some codes', () => {
    expect(isCtError(error)).toBe(true)
    expect(isCtError(error, 'ERR_USAGE', 'ERR_TIMEOUT')).toBe(true)
    expect(isCtError(error, 'ERR_USAGE')).toBe(false)
    expect(isCtError(new Error('x'))).toBe(false)
    expect(isCtError({ code: 'ERR_TIMEOUT' })).toBe(false)
  })
})

describe('isErrorCode', () => {
  for (const text of ['__proto__', 'constructor', 'toString', '', 'err_timeout', 5, null, undefined, {}]) {
    it(`is false for ${String(text)}`, () => expect(isErrorCode(text)).toBe(false))
  }

  it('is true for codes of the catalogue', () => expect(Object.keys(ERROR_CODES).every(isErrorCode)).toBe(true))
})

describe('toCtError', () => {
  const ours = new CtError('ERR_TIMEOUT', 'too slow')
  const values: readonly { name: string; value: unknown; message: string }[] = [
    { name: 'an error of the system', value: new Error('boom'), message: 'boom' },
    { name: 'a text', value: 'boom', message: 'boom' },
    { name: 'nothing', value: undefined, message: 'undefined' },
    { name: 'an object without a text', value: Object.create(null), message: 'an unknown value was thrown' },
    { name: 'a symbol', value: Symbol('boom'), message: 'Symbol(boom)' },
  ]
  for (const { name, value, message } of values) {
    it(`turns ${name} into an error of the given code`, () => {
      expect(toCtError(value, 'ERR_LINK_LOST')).toMatchObject({ code: 'ERR_LINK_LOST', message })
      expect(toCtError(value).code).toBe('ERR_INTERNAL')
    })
  }

  it('leaves our own errors as they are', () => expect(toCtError(ours, 'ERR_LINK_LOST')).toBe(ours))
})
