import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/time.ts'
import { openDatabase } from '../../src/relay/storage/open.ts'
import { newDatabase } from './harness.ts'

const SILENT = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
const LONG_MS = 10_000
const NEVER = new AbortController().signal

async function open(location: Awaited<ReturnType<typeof newDatabase>>) {
  const database = await openDatabase(location, { clock: systemClock, log: SILENT })
  onTestFinished(() => database.close())
  return database
}

it('a waiter is woken by what was told after it began to listen, even before it waits', async () => {
  const { wakes } = await open(await newDatabase())
  const waiter = wakes.listen('inbox:a')
  wakes.wake('inbox:a')
  await waiter.next(LONG_MS, NEVER)
  const woken = waiter.next(LONG_MS, NEVER)
  wakes.wake('inbox:a')
  await woken
  waiter.close()
})

it('a waiter of another topic goes on waiting, until its time is over or whoever asked is gone', async () => {
  const { wakes } = await open(await newDatabase())
  const waiter = wakes.listen('inbox:a')
  let isDone = false
  const left = new AbortController()
  const waiting = waiter.next(LONG_MS, left.signal).then(() => {
    isDone = true
  })
  wakes.wake('inbox:b')
  await Promise.resolve()
  expect(isDone).toBe(false)
  left.abort()
  await waiting
  await waiter.next(1, NEVER)
  waiter.close()
})

it('relays that share a database wake each other', async ({ skip }) => {
  const location = await newDatabase()
  skip(location.kind === 'file', 'a file tells nobody')
  const [here, there] = [await open(location), await open(location)]
  const waiter = there.wakes.listen('inbox:a')
  // The first may be for the new connection, which tells that something may have been missed.
  await waiter.next(LONG_MS, NEVER)
  const woken = waiter.next(LONG_MS, NEVER)
  here.wakes.wake('inbox:a')
  await woken
})

it('of transactions that change what others read, each comes out as if it had been alone', async () => {
  const location = await newDatabase()
  const first = await open(location)
  // Files are read and written without giving way, so only another process could come between.
  const databases = [first, location.kind === 'file' ? first : await open(location)] as const
  const now = Date.now()
  await first.sql
    .insertInto('users')
    .values({
      id: 'u',
      email: 'a@b',
      display_name: '0',
      is_admin: 0,
      password_hash: null,
      created_at: now,
      updated_at: now,
    })
    .execute()
  const count = async (database: (typeof databases)[number]) =>
    database.transaction(async (sql) => {
      const { display_name: text } = await sql
        .selectFrom('users')
        .select('display_name')
        .where('id', '=', 'u')
        .executeTakeFirstOrThrow()
      await sql
        .updateTable('users')
        .set({ display_name: String(Number(text) + 1) })
        .where('id', '=', 'u')
        .execute()
    })
  await Promise.all(Array.from({ length: 8 }, (_, index) => count(databases[index % 2 === 0 ? 0 : 1])))
  const row = await first.sql.selectFrom('users').select('display_name').executeTakeFirst()
  expect(row?.display_name).toBe('8')
})
