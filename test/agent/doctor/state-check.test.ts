import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkState, newestChange } from '../../../src/agent/doctor/state-check.ts'

const KEY = `${'ab'.repeat(32)}\n`

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'ct-agent-state-'))
  onTestFinished(() => {
    chmodSync(path, 0o700)
    rmSync(path, { recursive: true })
  })
  return path
}

function codes(path: string): readonly string[] {
  return checkState(path).map(({ code }) => code)
}

describe('the doctor, of the state folder', () => {
  it('finds a good one, with and without keys, and leaves it as it is', () => {
    const path = folder()
    expect(codes(path)).toEqual(['state.ok'])
    writeFileSync(join(path, 'holder.key'), KEY, { mode: 0o600 })
    expect(codes(path)).toEqual(['state.ok'])
    expect(readdirSync(path)).toEqual(['holder.key'])
  })

  it('finds that one can be made, and does not make it', () => {
    const path = folder()
    expect(codes(join(path, 'a/b'))).toEqual(['state.ok'])
    expect(readdirSync(path)).toEqual([])
  })

  it('finds something that is no folder', () => {
    const path = folder()
    writeFileSync(join(path, 'file'), '')
    expect(codes(join(path, 'file'))).toEqual(['state.not_a_folder'])
    expect(codes(join(path, 'file/state'))).toEqual(['state.not_a_folder'])
  })

  it('finds that others can write it', () => {
    const path = folder()
    chmodSync(path, 0o777)
    expect(codes(path)).toEqual(['state.open'])
  })

  it.skipIf(process.geteuid?.() === 0)('finds that it cannot be written', () => {
    const path = folder()
    chmodSync(path, 0o500)
    expect(codes(path)).toEqual(['state.not_writable'])
    expect(codes(join(path, 'below'))).toEqual(['state.not_writable'])
  })

  for (const [what, text, mode] of [
    ['that others can read', KEY, 0o644],
    ['that is cut off', 'abcd\n', 0o600],
    ['that is empty', '', 0o600],
  ] as const) {
    it(`finds a key ${what}`, () => {
      const path = folder()
      const file = join(path, 'noise.key')
      writeFileSync(file, text)
      chmodSync(file, mode)
      const [finding] = checkState(path)
      expect(finding).toMatchObject({ code: 'state.key', message: expect.stringContaining('noise.key') as string })
      expect(finding?.message).not.toContain(KEY.trim())
    })
  }

  it('finds a key that is a folder', () => {
    const path = folder()
    mkdirSync(join(path, 'holder.key'))
    expect(codes(path)).toEqual(['state.key'])
  })

  it('tells when something was last written', () => {
    const path = folder()
    expect(newestChange([join(path, 'none')])).toBe(0)
    expect(newestChange([path])).toBeGreaterThan(0)
  })
})
