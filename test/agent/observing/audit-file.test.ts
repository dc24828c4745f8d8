import {
  appendFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AuditFile, KEPT_FILES } from '../../../src/agent/observing/audit/audit-file.ts'
import { verifyAudit } from '../../../src/agent/observing/audit/audit-verify.ts'
import { FileLock } from '../../../src/agent/observing/audit/file-lock.ts'
import { systemClock } from '../../../src/core/time.ts'
import { canMount, SmallDisk } from '../../small-disk.ts'
import { entries } from './audit-lines.ts'

let folder = ''
let path = ''
const open: AuditFile[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ct-audit-'))
  path = join(folder, 'audit.log')
})

afterEach(() => {
  for (const file of open.splice(0)) file.close()
  rmSync(folder, { recursive: true, force: true })
})

function openFile(run: string, maxBytes?: number): AuditFile {
  const file = new AuditFile(path, run, systemClock, maxBytes)
  open.push(file)
  return file
}

describe('an audit file', () => {
  it('is one chain, whoever of several writers adds to it, for its owner alone', async () => {
    const writers = [openFile('first'), openFile('second'), openFile('third')]
    const addAll = async (file: AuditFile): Promise<void> => {
      for (let round = 0; round < 20; round += 1) expect(await file.append(entries(3))).toEqual({ written: 3 })
    }
    await Promise.all(writers.map(addAll))
    expect(await verifyAudit(path)).toMatchObject({ entries: 180, first: 1, last: 180, recovered: 0, isTorn: false })
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const runs = new Set(readFileSync(path, 'utf8').match(/"run":"\w+"/g))
    expect(runs.size).toBe(3)
  })

  it('goes on after a line that was cut off, and notes it', async () => {
    await openFile('first').append(entries(3))
    const whole = readFileSync(path)
    for (const cut of [1, 2, 200]) {
      writeFileSync(path, whole.subarray(0, whole.length - cut))
      expect((await openFile('second').append(entries(2))).written).toBe(2)
      // Of a line that lacks its line feed alone nothing is lost.
      const isWhole = cut === 1
      const found = await verifyAudit(path)
      expect(found.fault).toBeUndefined()
      expect(found).toMatchObject({ entries: 5, recovered: isWhole ? 0 : 1, isTorn: false })
    }
  })

  it('does not hide that its last line was changed', async () => {
    const file = openFile('first')
    await file.append(entries(3))
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace('"ms":3', '"ms":4'))
    await openFile('second').append(entries(1))
    expect((await verifyAudit(path)).fault).toMatchObject({ fault: 'changed', line: 3, file: path })
  })

  it('is put aside when it is large, the chain going on, and the oldest is removed', async () => {
    const file = openFile('first', 2_000)
    const other = openFile('second', 2_000)
    for (let round = 0; round < 5; round += 1) {
      await file.append(entries(3))
      await other.append(entries(4))
    }
    expect(await verifyAudit(path)).toMatchObject({ entries: 35, first: 1, last: 35 })
    for (let round = 0; round < 40; round += 1) await file.append(entries(7))
    const found = await verifyAudit(path)
    expect(found).toMatchObject({ files: KEPT_FILES + 1, last: 315 })
    expect(found.first).toBeGreaterThan(1)
    expect(found.fault).toBeUndefined()
    rmSync(`${path}.3`)
    expect((await verifyAudit(path)).fault).toMatchObject({ fault: 'missing' })
  })

  it('shows that files before it are gone', async () => {
    const file = openFile('first', 2_000)
    for (let round = 0; round < 4; round += 1) await file.append(entries(7))
    rmSync(`${path}.3`)
    expect((await verifyAudit(path)).fault).toMatchObject({ fault: 'missing', line: 1 })
    expect((await verifyAudit(`${path}.1`)).fault).toBeUndefined()
  })

  it('shows that its beginning is gone, though its name ends in a year', async () => {
    path = join(folder, 'audit.2026')
    await openFile('first').append(entries(3))
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.slice(text.indexOf('\n') + 1))
    expect((await verifyAudit(path)).fault).toMatchObject({ fault: 'missing', line: 1 })
  })

  it('notes a cut line also in the file after the one that was put aside', async () => {
    await openFile('first', 2_000).append(entries(7))
    appendFileSync(path, '{"seq":8,"ti')
    await openFile('second', 2_000).append(entries(1))
    expect(await verifyAudit(path)).toMatchObject({ files: 2, entries: 9, recovered: 1 })
  })

  it('goes on with the chain when the first line of a file that was begun anew was cut off', async () => {
    const file = openFile('first', 2_000)
    await file.append(entries(7))
    await file.append(entries(1))
    truncateSync(path, 40)
    expect((await openFile('second').append(entries(2))).written).toBe(2)
    const found = await verifyAudit(path)
    expect(found.fault).toBeUndefined()
    expect(found).toMatchObject({ files: 2, entries: 10, recovered: 1, last: 10 })
  })

  for (const bytes of [1, 20, 150, 300]) {
    it(`goes on after the note of a cut line was cut off itself, after ${bytes} bytes`, async () => {
      await openFile('first').append(entries(3))
      const cut = statSync(path).size - 100
      truncateSync(path, cut)
      for (const run of ['second', 'third']) {
        const { size } = statSync(path)
        await openFile(run).append(entries(1))
        // A line feed comes before the note.
        truncateSync(path, size + 1 + bytes)
      }
      expect((await openFile('last').append(entries(2))).written).toBe(2)
      const found = await verifyAudit(path)
      expect(found.fault).toBeUndefined()
      expect(found).toMatchObject({ entries: 5, recovered: 1, isTorn: false })
      const text = readFileSync(path, 'utf8')
      writeFileSync(path, `${text.slice(0, cut - 1)}#${text.slice(cut)}`)
      expect((await verifyAudit(path)).fault).toMatchObject({ fault: 'changed', line: 3 })
    })
  }

  it('does not take a line that was changed for one that was cut off', async () => {
    await openFile('first').append(entries(3))
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, `${text.replace('"ms":3', '"ms":4')}{"seq":4`)
    await openFile('second').append(entries(1))
    expect((await verifyAudit(path)).fault).toMatchObject({ fault: 'changed', line: 3, file: path })
  })

  it('does not write through a link, nor into what is no file or others can read', async () => {
    writeFileSync(join(folder, 'elsewhere'), '')
    symlinkSync(join(folder, 'elsewhere'), path)
    expect((await openFile('first').append(entries(1))).failure?.code).toBe('ERR_STATE_UNAVAILABLE')
    rmSync(path)
    writeFileSync(path, '', { mode: 0o644 })
    expect((await openFile('second').append(entries(1))).failure?.message).toContain('expected mode 600, found 644')
  })

  it('waits for whoever writes, and lets nobody wait who only tries', async () => {
    const lock = await FileLock.open(`${path}.lock`)
    const same = await FileLock.open(`${path}.lock`)
    expect([lock.take(), same.take()]).toEqual([true, false])
    const appended = openFile('first').append(entries(1))
    lock.release()
    expect((await appended).written).toBe(1)
    expect(same.take()).toBe(true)
    for (const each of [lock, same]) each.close()
  })

  it.runIf(canMount())('says how much a disk took that was full, and goes on when it is not', async () => {
    const disk = new SmallDisk(folder)
    try {
      const file = openFile('first')
      await file.append(entries(2))
      disk.fill()
      const failed = await file.append(entries(100))
      expect(failed.failure?.message).toMatch(/ENOSPC/)
      expect(failed.written).toBeLessThan(100)
      disk.free()
      const rest = entries(100).slice(failed.written)
      expect(await file.append(rest)).toEqual({ written: rest.length })
      const found = await verifyAudit(path)
      expect(found.fault).toBeUndefined()
      expect(found.entries - found.recovered).toBe(102)
    } finally {
      closeAll()
      disk.unmount()
    }
  })

  function closeAll(): void {
    for (const file of open.splice(0)) file.close()
  }

  it('is refused by whoever is to verify it when it is not there', async () => {
    await expect(verifyAudit(path)).rejects.toMatchObject({ code: 'ERR_USAGE' })
  })

  it('cut at any byte is a shorter log with at most its last line cut', async () => {
    await openFile('first').append(entries(4))
    const whole = readFileSync(path)
    for (let length = whole.length; length >= 0; length -= 37) {
      truncateSync(path, length)
      const { fault, entries: count } = await verifyAudit(path)
      expect(fault).toBeUndefined()
      expect(count).toBe(whole.subarray(0, length).toString().split('\n').length - 1)
    }
  })
})
