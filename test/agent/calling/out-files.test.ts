import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type OutWish, prepareOut } from '../../../src/agent/calling/out-files.ts'

function scene() {
  const folder = mkdtempSync(join(tmpdir(), 'ct-agent-out-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const at = (name: string): string => join(folder, name)
  const keeper = (out: string, more: Partial<OutWish> = {}) =>
    prepareOut({ out: at(out), force: false, unique: 'u', ...more })
  const put = (name: string): void => writeFileSync(at(name), 'old')
  const text = (name: string): string => readFileSync(at(name), 'utf8')
  return { at, keeper, put, text, names: (name = '.') => readdirSync(at(name)).sort() }
}

const bytes = Buffer.from('new')

describe('--out', () => {
  it('fills a folder, which it makes, and leaves what is there alone', () => {
    const { at, keeper, put, text, names } = scene()
    const keep = keeper('a/b/')
    put('a/b/content-2.png')
    expect(['png', 'png', 'bin'].map((ending) => keep(bytes, ending))).toEqual(
      ['content-1.png', 'content-3.png', 'content-4.bin'].map((name) => at(`a/b/${name}`)),
    )
    expect(text('a/b/content-2.png')).toBe('old')
    expect(names('a/b')).toEqual(['content-1.png', 'content-2.png', 'content-3.png', 'content-4.bin'])
  })

  it('knows a folder that is there without a slash', () => {
    const { at, keeper } = scene()
    mkdirSync(at('there'))
    expect(keeper('there')(bytes, 'gif')).toBe(at('there/content-1.gif'))
  })

  it('writes a file, and further ones beside it', () => {
    const { at, keeper, put, text } = scene()
    const keep = keeper('pic.png')
    put('pic-2.png')
    expect([keep(bytes, 'jpg'), keep(bytes, 'jpg')]).toEqual([at('pic.png'), at('pic-3.png')])
    expect([text('pic.png'), text('pic-2.png')]).toEqual(['new', 'old'])
  })

  it('refuses a file that is there before anything is called, unless forced', () => {
    const { at, keeper, put, text } = scene()
    put('pic.png')
    expect(() => keeper('pic.png')).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }) as Error)
    expect(keeper('pic.png', { force: true })(bytes, 'png')).toBe(at('pic.png'))
    expect(text('pic.png')).toBe('new')
  })

  it('refuses what it could not write, before anything is called', () => {
    const { keeper, put, names } = scene()
    put('file')
    expect(() => keeper('file/x/')).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }) as Error)
    expect(() => keeper('nowhere/pic.png')).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }) as Error)
    expect(names()).toEqual(['file'])
  })

  for (const force of [false, true]) {
    it(`follows no link out of the folder${force ? ', not even when forced' : ''}`, () => {
      const { at, keeper, put, text } = scene()
      put('outside')
      mkdirSync(at('in'))
      symlinkSync(at('outside'), at('in/content-1.bin'))
      keeper('in', { force })(bytes, 'bin')
      expect(text('outside')).toBe('old')
      expect(text(force ? 'in/content-1.bin' : 'in/content-2.bin')).toBe('new')
    })
  }
})
