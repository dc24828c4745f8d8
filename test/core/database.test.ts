import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Database, openDatabase } from '../../src/core/database.ts'

const LAYOUT = { name: 'the list of words', version: 1, schema: 'CREATE TABLE words (word TEXT PRIMARY KEY) STRICT' }

let path: string

beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), 'ct-agent-database-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  path = join(folder, 'words.db')
})

async function opened(patienceMs = 50): Promise<Database> {
  const database = await openDatabase(path, LAYOUT, patienceMs)
  onTestFinished(() => database.close())
  return database
}

function put(database: Database, word: string): void {
  database.update(() => database.run('INSERT INTO words VALUES (?)', word))
}

function words(database: Database): readonly unknown[] {
  return database.read(() => database.all('SELECT word FROM words ORDER BY word').map(({ word }) => word))
}

describe('a database', () => {
  it('is for its owner alone, with every file beside it', async () => {
    const database = await opened()
    put(database, 'one')
    const folder = join(path, '..')
    const modes = readdirSync(folder).map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)])
    expect(modes).toEqual([
      ['words.db', '600'],
      ['words.db-shm', '600'],
      ['words.db-wal', '600'],
    ])
  })

  it('tells every other process once that it changed, and not the one that changed it', async () => {
    const [one, other] = [await opened(), await opened()]
    expect([one.changedElsewhere(), other.changedElsewhere()]).toEqual([false, false])
    put(one, 'a')
    expect([one.changedElsewhere(), other.changedElsewhere(), other.changedElsewhere()]).toEqual([false, true, false])
    expect(words(other)).toEqual(['a'])
  })

  it('keeps nothing of a change that failed', async () => {
    const database = await opened()
    const failure = new Error('in the middle')
    const change = (): void =>
      database.update(() => {
        database.run('INSERT INTO words VALUES (?)', 'half')
        throw failure
      })
    expect(change).toThrow(failure)
    expect(words(database)).toEqual([])
    put(database, 'whole')
    expect(words(database)).toEqual(['whole'])
  })

  it('refuses to wait longer for another process than was said', async () => {
    const [one, other] = [await opened(), await opened()]
    one.update(() => {
      expect(() => put(other, 'late')).toThrow(expect.objectContaining({ code: 'ERR_PEER_BUSY' }))
    })
    put(other, 'now')
  })

  it('says which file it is that is none, newer, or open to others', async () => {
    writeFileSync(path, 'something else, which is long enough to be taken for a file', { mode: 0o600 })
    await expect(opened()).rejects.toMatchObject({ code: 'ERR_STATE_UNAVAILABLE', detail: { path } })
    rmSync(path)
    ;(await opened()).close()
    await expect(openDatabase(path, { ...LAYOUT, version: 2 }, 50)).rejects.toMatchObject({
      code: 'ERR_STATE_UNAVAILABLE',
      message: expect.stringMatching(/the list of words .* expected layout 2, found 1/),
    })
    chmodSync(path, 0o644)
    await expect(opened()).rejects.toMatchObject({ code: 'ERR_STATE_UNAVAILABLE' })
  })
})
