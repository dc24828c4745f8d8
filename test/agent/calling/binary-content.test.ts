import { describe, expect, it } from 'vitest'
import { keepBinaries } from '../../../src/agent/calling/binary-content.ts'
import { type JsonValue } from '../../../src/core/json.ts'

/** What is left of the result, and what was kept. */
function keep(result: JsonValue): { readonly result: JsonValue; readonly files: readonly string[] } {
  const files: string[] = []
  const left = keepBinaries(result, (bytes, ending) => {
    files.push(`${Buffer.from(bytes).toString()}.${ending}`)
    return `file-${files.length}`
  })
  expect(left.kept).toBe(files.length)
  return { result: left.result, files }
}

const DATA = Buffer.from('hi').toString('base64')

describe('binary content of a result', () => {
  for (const [what, block, left, file] of [
    [
      'an image',
      { type: 'image', data: DATA, mimeType: 'image/PNG; q=1', annotations: { priority: 1 } },
      { type: 'image', mimeType: 'image/PNG; q=1', annotations: { priority: 1 }, file: 'file-1' },
      'hi.png',
    ],
    ['a sound', { type: 'audio', data: DATA }, { type: 'audio', file: 'file-1' }, 'hi.bin'],
    [
      'a file',
      { type: 'resource', resource: { uri: 'file:///x', blob: DATA, mimeType: 'application/pdf' } },
      { type: 'resource', resource: { uri: 'file:///x', mimeType: 'application/pdf', file: 'file-1' } },
      'hi.pdf',
    ],
    [
      'an image of a type that would name a path',
      { type: 'image', data: DATA, mimeType: 'image/../../etc/passwd' },
      { type: 'image', mimeType: 'image/../../etc/passwd', file: 'file-1' },
      'hi.bin',
    ],
  ] as const) {
    it(`is kept: ${what}`, () => {
      const text = { type: 'text', text: 'x' }
      expect(keep({ content: [text, block], isError: false })).toEqual({
        result: { content: [text, left], isError: false },
        files: [file],
      })
    })
  }

  for (const [what, result] of [
    ['text', { content: [{ type: 'text', text: DATA }] }],
    ['what is no base64', { content: [{ type: 'image', data: 'no base64!' }] }],
    ['what is no text', { content: [{ type: 'image', data: 3 }, 7, { type: 'resource', resource: [] }] }],
    ['a resource of text', { content: [{ type: 'resource', resource: { uri: 'x', text: DATA } }] }],
    ['content that is no list', { content: 'x' }],
    ['a bare value', 'x'],
  ] as const) {
    it(`is none in ${what}`, () => {
      expect(keep(result)).toEqual({ result, files: [] })
    })
  }
})
