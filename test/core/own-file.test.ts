import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ensureOwnFile } from '../../src/core/secret-file.ts'
import { openDescriptors } from '../mcp/services/processes.ts'

const unavailable = expect.objectContaining({ code: 'ERR_STATE_UNAVAILABLE', detail: { path: expect.any(String) } })
const isRoot = process.getuid?.() === 0

let folder = ''
let path = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ct-own-'))
  path = join(folder, 'book')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const modeOf = (of: string): string => (statSync(of).mode & 0o777).toString(8)

describe('ensureOwnFile', () => {
  for (const umask of [0, 0o022, 0o377]) {
    it(`makes an empty file that its owner alone can use, with a umask of ${umask.toString(8)}`, () => {
      const previous = process.umask(umask)
      try {
        ensureOwnFile(path)
        expect([modeOf(path), statSync(path).size]).toEqual(['600', 0])
      } finally {
        process.umask(previous)
      }
    })
  }

  it('makes the folder, for its owner alone', () => {
    ensureOwnFile(join(folder, 'deep', 'state', 'book'))
    expect([modeOf(join(folder, 'deep')), modeOf(join(folder, 'deep', 'state'))]).toEqual(['700', '700'])
  })

  it('leaves what is there as it is, and nothing open', () => {
    writeFileSync(path, 'sales', { mode: 0o600 })
    const before = [openDescriptors(), statSync(path).mtimeMs]
    ensureOwnFile(path)
    ensureOwnFile(path)
    expect(readFileSync(path, 'utf8')).toBe('sales')
    expect([openDescriptors(), statSync(path).mtimeMs]).toEqual(before)
  })

  for (const mode of [0o640, 0o604, 0o602, 0o777]) {
    it(`refuses a file of mode ${mode.toString(8)}`, () => {
      writeFileSync(path, '')
      chmodSync(path, mode)
      expect(() => ensureOwnFile(path)).toThrow(unavailable)
    })
  }

  it.skipIf(!isRoot)('refuses a file of another user (skipped for users who cannot make one)', () => {
    writeFileSync(path, '', { mode: 0o600 })
    chownSync(path, 65_534, 65_534)
    expect(() => ensureOwnFile(path)).toThrow(unavailable)
  })

  it('makes no file in a folder that others can write', () => {
    chmodSync(folder, 0o777)
    expect(() => ensureOwnFile(path)).toThrow(unavailable)
    expect(existsSync(path)).toBe(false)
  })

  it('refuses a folder, a link to nothing, and a path below a file', () => {
    mkdirSync(join(folder, 'inner'))
    symlinkSync(join(folder, 'nothing'), join(folder, 'link'))
    writeFileSync(path, '', { mode: 0o600 })
    for (const wrong of [join(folder, 'inner'), join(folder, 'link'), join(path, 'below')]) {
      expect(() => ensureOwnFile(wrong)).toThrow(unavailable)
    }
    expect(existsSync(join(folder, 'nothing'))).toBe(false)
  })
})
