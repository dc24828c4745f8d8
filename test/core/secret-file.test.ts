import { execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSecretFile, readSecretFile, writeSecretFile } from '../../src/core/secret-file.ts'

const unavailable = expect.objectContaining({ code: 'ERR_STATE_UNAVAILABLE', detail: { path: expect.any(String) } })
const isRoot = process.getuid?.() === 0

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ct-secret-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

describe('writeSecretFile', () => {
  it('makes folder and file for the owner alone, whatever the umask', () => {
    const previous = process.umask(0)
    try {
      const path = join(folder, 'deep', 'state', 'key')
      writeSecretFile(path, 'secret', 'a')
      expect([modeOf(join(folder, 'deep')), modeOf(join(folder, 'deep', 'state')), modeOf(path)]).toEqual([
        '700',
        '700',
        '600',
      ])
      expect(readSecretFile(path)).toBe('secret')
    } finally {
      process.umask(previous)
    }
  })

  it('leaves the owner able to write, whatever the umask', () => {
    const previous = process.umask(0o377)
    try {
      writeSecretFile(join(folder, 'key'), 'secret', 'a')
      expect(modeOf(join(folder, 'key'))).toBe('600')
    } finally {
      process.umask(previous)
    }
  })

  it('replaces a file that others could read, link and all, and leaves nothing else behind', () => {
    const path = join(folder, 'key')
    writeFileSync(join(folder, 'elsewhere'), 'old', { mode: 0o644 })
    symlinkSync(join(folder, 'elsewhere'), path)
    writeSecretFile(path, 'new', 'a')
    expect(readSecretFile(path)).toBe('new')
    expect(readFileSync(join(folder, 'elsewhere'), 'utf8')).toBe('old')
    expect(readdirSync(folder).sort()).toEqual(['elsewhere', 'key'])
  })

  it('fails with a reason below something that is no folder', () => {
    writeFileSync(join(folder, 'file'), '')
    expect(() => writeSecretFile(join(folder, 'file', 'key'), 'secret', 'a')).toThrow(unavailable)
  })

  it('fails where a folder is in the way, and leaves no temporary file', () => {
    mkdirSync(join(folder, 'key'))
    expect(() => writeSecretFile(join(folder, 'key'), 'secret', 'a')).toThrow(unavailable)
    expect(readdirSync(folder)).toEqual(['key'])
  })

  it('never shows a reader a part of the content', async () => {
    const path = join(folder, 'key')
    writeSecretFile(path, 'a'.repeat(60_000), 'first')
    const writer = child(
      `for (let i = 0; i < 60; i++) writeSecretFile(${JSON.stringify(path)}, (i % 2 ? 'a' : 'b').repeat(60000), 'w')`,
    )
    let live = true
    const seen = new Set<string>()
    const done = writer.then(() => {
      live = false
    })
    while (live) {
      seen.add(readSecretFile(path)?.replace(/^(a{60000}|b{60000})$/, 'whole') ?? 'none')
      await new Promise((resolve) => setImmediate(resolve))
    }
    await done
    expect([...seen]).toEqual(['whole'])
  })
})

describe('createSecretFile', () => {
  it('gives one winner among processes, whose text all get', async () => {
    const path = join(folder, 'state', 'key')
    const runs = Array.from({ length: 4 }, (_, index) =>
      child(`console.log(createSecretFile(${JSON.stringify(path)}, 'from ${index}', 'u${index}'))`),
    )
    const results = await Promise.all(runs)
    expect(new Set(results).size).toBe(1)
    expect(results[0]?.trim()).toBe(readFileSync(path, 'utf8'))
    expect(readdirSync(join(folder, 'state'))).toEqual(['key'])
    expect(modeOf(path)).toBe('600')
  })

  it('keeps what is there', () => {
    const path = join(folder, 'key')
    expect(createSecretFile(path, 'first', 'a')).toBe('first')
    expect(createSecretFile(path, 'second', 'b')).toBe('first')
  })

  it('does not use what is there when others may read it', () => {
    const path = join(folder, 'key')
    writeFileSync(path, 'old', { mode: 0o644 })
    expect(() => createSecretFile(path, 'new', 'a')).toThrow(unavailable)
    expect(readdirSync(folder)).toEqual(['key'])
  })
})

describe('readSecretFile', () => {
  it('is undefined for a file that is not there', () => {
    expect(readSecretFile(join(folder, 'none'))).toBeUndefined()
    expect(readSecretFile(join(folder, 'none', 'at', 'all'))).toBeUndefined()
  })

  for (const mode of [0o640, 0o604, 0o660, 0o644, 0o610, 0o601, 0o777]) {
    it(`refuses mode ${mode.toString(8)}`, () => {
      const path = join(folder, 'key')
      writeFileSync(path, 'secret')
      chmodSync(path, mode)
      expect(() => readSecretFile(path)).toThrow(
        expect.objectContaining({ message: expect.stringContaining(mode.toString(8)) }),
      )
    })
  }

  it('refuses a folder', () => expect(() => readSecretFile(folder)).toThrow(unavailable))

  it('refuses a device', () => expect(() => readSecretFile('/dev/zero')).toThrow(unavailable))

  it('refuses a named pipe without waiting for a writer', () => {
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', ['-m', '600', path])
    expect(() => readSecretFile(path)).toThrow(unavailable)
  })

  it('refuses a file that is too large to be one of ours', () => {
    const path = join(folder, 'key')
    writeFileSync(path, 'x'.repeat(65_537), { mode: 0o600 })
    expect(() => readSecretFile(path)).toThrow(unavailable)
  })

  it('refuses a link that leads to itself', () => {
    symlinkSync(join(folder, 'loop'), join(folder, 'loop'))
    expect(() => readSecretFile(join(folder, 'loop'))).toThrow(unavailable)
  })

  it.skipIf(!isRoot)('refuses a file of another user (skipped unless root, who can make one)', () => {
    const path = join(folder, 'key')
    writeSecretFile(path, 'secret', 'a')
    chownSync(path, 12_345, 12_345)
    expect(() => readSecretFile(path)).toThrow(unavailable)
    expect(() => readSecretFile(path)).toThrow(/found one of user 12345; run chown on it, or remove it$/)
  })

  it.skipIf(!isRoot)('refuses a folder of another user (skipped unless root, who can make one)', () => {
    const path = join(folder, 'key')
    writeSecretFile(path, 'secret', 'a')
    chownSync(folder, 12_345, 12_345)
    expect(() => readSecretFile(path)).toThrow(/it belongs to user 12345; choose a folder of your own$/)
  })

  for (const mode of [0o777, 0o1777, 0o770, 0o702]) {
    it(`refuses a folder that others can write, of mode ${mode.toString(8)}, to read and to create`, () => {
      const path = join(folder, 'key')
      writeSecretFile(path, 'secret', 'a')
      chmodSync(folder, mode)
      for (const use of [() => readSecretFile(path), () => createSecretFile(join(folder, 'new'), 'x', 'b')]) {
        expect(use).toThrow(unavailable)
        expect(use).toThrow(/others can write it \(mode 7[07][027]\); run chmod go-w on it$/)
      }
      expect(readdirSync(folder)).toEqual(['key'])
    })
  }

  it.skipIf(isRoot)('refuses a file it may not read (skipped for root, who may read everything)', () => {
    const path = join(folder, 'key')
    writeFileSync(path, 'secret', { mode: 0o000 })
    expect(() => readSecretFile(path)).toThrow(unavailable)
  })
})

describe('a full disk', () => {
  const mounted = isRoot && canMount()

  it.skipIf(!mounted)(
    'fails with a reason, keeps the old file and leaves no other (skipped where nothing can be mounted)',
    () => {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=16k,mode=700', 'tmpfs', folder])
      try {
        const path = join(folder, 'key')
        writeSecretFile(path, 'old', 'a')
        expect(() => writeSecretFile(path, 'x'.repeat(40_000), 'b')).toThrow(unavailable)
        expect(() => createSecretFile(join(folder, 'other'), 'x'.repeat(40_000), 'c')).toThrow(unavailable)
        expect(readSecretFile(path)).toBe('old')
        expect(readdirSync(folder)).toEqual(['key'])
      } finally {
        execFileSync('umount', [folder])
      }
    },
  )
})

function canMount(): boolean {
  const at = mkdtempSync(join(tmpdir(), 'ct-mount-'))
  const works = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16k', 'tmpfs', at]).status === 0
  if (works) spawnSync('umount', [at])
  if (existsSync(at)) rmSync(at, { recursive: true, force: true })
  return works
}

/** Runs a line of code with the functions under test in a process of its own; resolves to what it prints. */
async function child(code: string): Promise<string> {
  const source = `import { createSecretFile, writeSecretFile } from ${JSON.stringify(join(process.cwd(), 'src/core/secret-file.ts'))}\n${code}`
  const run = spawn(process.execPath, ['--input-type=module', '-e', source], { stdio: ['ignore', 'pipe', 'inherit'] })
  return textOf(run.stdout)
}
