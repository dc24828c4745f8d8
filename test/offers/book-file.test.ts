import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Sealed } from '../../src/core/artefact.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type Hash } from '../../src/core/ids.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { bidJson, type CapacityBid } from '../../src/offers/bid.ts'
import { type NewSale } from '../../src/offers/book.ts'
import { openBook } from '../../src/offers/book-file.ts'
import { canMount, SmallDisk } from '../small-disk.ts'
import { bidOf, bookFile, Selling, START, withUnits } from './selling.ts'
import { buyer, stranger } from './signed.ts'

const FIXTURE = fileURLToPath(new URL('../fixtures/bidding-seller.ts', import.meta.url))
/** A table of the right name, as no version of ours made it. */
const OTHER_COLUMNS =
  'CREATE TABLE facts (name TEXT); CREATE TABLE sales (x); CREATE TABLE bids (x); PRAGMA user_version = 1'
const SLOW = { timeout: 60_000 } as const

function sale(name: number, units: bigint, expiresAt = u64(START)): NewSale {
  const hash = String(name).padStart(64, '0') as Hash
  const terms = { consumer: buyer.id, match: '{}', service: undefined, units: u64(units) }
  return { bid: hash, matchRef: hash, ...terms, issuedAt: u64(START), expiresAt }
}

describe('openBook', () => {
  it('makes a book that its owner alone can read, with everything that belongs to it', async () => {
    const previous = process.umask(0)
    try {
      const path = join(dirname(bookFile()), 'deep', 'sales.db')
      const selling = await Selling.open({}, path)
      selling.bid(bidOf())
      const names = readdirSync(dirname(path))
      expect(names).toContain('sales.db')
      for (const name of names) expect([name, modeOf(join(dirname(path), name))]).toEqual([name, '600'])
      expect(modeOf(dirname(path))).toBe('700')
    } finally {
      process.umask(previous)
    }
  })

  const unusable: Readonly<Record<string, (path: string) => void>> = {
    'that the group can read': (path) => writeFileSync(path, '', { mode: 0o640 }),
    'that everybody can write': (path) => {
      writeFileSync(path, '')
      chmodSync(path, 0o666)
    },
    'in a folder that everybody can write': (path) => chmodSync(dirname(path), 0o777),
    'that is a folder': (path) => mkdirSync(path),
    'that is a pipe': (path) => execFileSync('mkfifo', ['-m', '600', path]),
    'that is not a database': (path) => writeFileSync(path, 'units sold: 7\n'.repeat(200), { mode: 0o600 }),
    'that was cut off': (path) => {
      begin(path, 'CREATE TABLE t (x); PRAGMA user_version = 1')
      writeFileSync(path, 'SQLite format 3\0', { mode: 0o600 })
    },
    'of a newer layout': (path) => begin(path, 'PRAGMA user_version = 2'),
    'of another program': (path) => begin(path, 'CREATE TABLE sales (price REAL)'),
    'with other columns': (path) => begin(path, OTHER_COLUMNS),
    'whose tables are gone': (path) => begin(path, 'PRAGMA user_version = 1'),
  }
  for (const [name, make] of Object.entries(unusable)) {
    it(`refuses a book ${name}, and names it`, async () => {
      const path = bookFile()
      make(path)
      await expect(openBook(path)).rejects.toMatchObject({
        code: 'ERR_STATE_UNAVAILABLE',
        detail: { path: name.startsWith('in a folder') ? dirname(path) : path },
        message: expect.stringContaining(dirname(path)),
      })
    })
  }

  it('refuses a book below something that is no folder', async () => {
    const path = bookFile()
    writeFileSync(path, '')
    await expect(openBook(join(path, 'sales.db'))).rejects.toMatchObject({ code: 'ERR_STATE_UNAVAILABLE' })
  })

  it('goes on with an empty file', async () => {
    const path = bookFile()
    writeFileSync(path, '', { mode: 0o600 })
    expect((await Selling.open({}, path)).bid(bidOf())).toHaveProperty('matchRef')
  })
})

describe('an update', () => {
  it('keeps nothing of what it wrote when it throws', async () => {
    const book = await openBook(bookFile())
    book.update((page) => page.addSale(sale(1, 5n)))
    const fails = () =>
      book.update((page) => {
        page.clear()
        page.addSale(sale(2, 7n))
        page.keepOffer({ offer: 'o', terms: 't' })
        throw new Error('on purpose')
      })
    expect(fails).toThrow('on purpose')
    book.update((page) => {
      expect(page.sold()).toBe(5n)
      expect(page.offer()).toBeUndefined()
      expect(page.latestSales(9).map(({ units }) => units)).toEqual([5n])
    })
    book.close()
  })

  it('keeps nothing of a sale that is there already', async () => {
    const book = await openBook(bookFile())
    book.update((page) => page.addSale(sale(1, 5n)))
    expect(() => book.update((page) => page.addSale(sale(1, 5n)))).toThrow(/UNIQUE/)
    expect(book.update((page) => page.sold())).toBe(5n)
    book.close()
  })

  it('forgets what has expired in the order of its sale, by number and not by digits', async () => {
    const book = await openBook(bookFile())
    const ends = [U64_MAX, u64(9), u64(10), u64(100)]
    book.update((page) => {
      for (const [index, end] of ends.entries()) page.addSale(sale(index, 1n, end))
    })
    const left = () => book.update((page) => page.latestSales(9).map(({ expiresAt }) => expiresAt))
    expect(book.update((page) => page.forgetSale(u64(8)))).toBe(false)
    expect(book.update((page) => page.forgetSale(u64(10)))).toBe(true)
    expect(left()).toEqual([100n, 10n, U64_MAX])
    expect(book.update((page) => page.forgetSale(u64(99)))).toBe(true)
    expect(left()).toEqual([100n, U64_MAX])
    book.close()
  })

  it('waits for that of another handle on the same file, and both see what the other sold', async () => {
    const path = bookFile()
    const [one, other] = [await Selling.open({}, path), await Selling.open({}, path)]
    const match = one.bid(bidOf())
    expect(other.bid(bidOf())).toEqual(match)
    expect(other.bid(bidOf({ units: u64(801) }))).toMatchObject({ reason: 'sold_out' })
    expect(other.bid(bidOf({ units: u64(800) }))).toHaveProperty('matchRef')
    expect(one.bid(bidOf({ units: u64(1) }))).toMatchObject({ reason: 'sold_out' })
    expect(one.offer()).toEqual(other.offer())
    other.stop()
    expect(one.sold()).toBe(1_000n)
  })
})

describe('a failure of the disk or the file', () => {
  it('is an error of ours, which names the book', async () => {
    const path = bookFile()
    const book = await openBook(path)
    const other = new DatabaseSync(path)
    other.exec('DROP TABLE facts')
    other.close()
    const broken = expect.objectContaining({ code: 'ERR_STATE_UNAVAILABLE', detail: { path } })
    expect(() => book.update((page) => page.sold())).toThrow(broken)
    expect(() => book.read((page) => page.sold())).toThrow(broken)
    book.close()
  })

  it('does not pass for one of SQLite when it is none', async () => {
    const book = await openBook(bookFile())
    const mistake = () =>
      book.update(() => {
        throw new TypeError('a mistake')
      })
    expect(mistake).toThrow(TypeError)
    book.close()
  })
})

describe('a book with many sales', () => {
  it('finds and counts them without looking at each', async () => {
    const path = bookFile()
    const book = await openBook(path)
    const database = new DatabaseSync(path)
    const plan = (sql: string, ...values: string[]): string => {
      return database
        .prepare(`EXPLAIN QUERY PLAN ${sql}`)
        .all(...values)
        .map(({ detail }) => detail)
        .join('; ')
    }
    const forgotten = 'SELECT number, match_ref FROM sales WHERE expires_at <= ? ORDER BY expires_at, number LIMIT 1'
    expect(plan(forgotten, '1')).toBe('SEARCH sales USING INDEX sales_by_end (expires_at<?)')
    expect(plan('SELECT 1 FROM sales WHERE consumer = ? LIMIT 1', '1')).toMatch(
      /^SEARCH sales USING .*sales_by_consumer/,
    )
    database.close()
    book.update((page) => {
      page.addSale(sale(1, 1n))
      page.addSale(sale(2, 1n))
      page.forgetSale(U64_MAX)
      expect(page.countSales()).toBe(1)
      page.clear()
      expect(page.countSales()).toBe(0)
    })
    book.close()
  })

  it('knows who bought', async () => {
    const book = await openBook(bookFile())
    book.update((page) => page.addSale(sale(1, 1n)))
    expect(book.read((page) => [page.hasBuyer(buyer.id), page.hasBuyer(stranger.id)])).toEqual([true, false])
    book.close()
  })
})

describe('two processes with one book', SLOW, () => {
  it('sell no unit twice between them, and each bid once', async () => {
    const path = bookFile()
    const units = 60n
    const bids = Array.from({ length: 40 }, (_, index) => bidOf({ units: u64(1 + (index % 3)), issuedAt: u64(index) }))
    const answers = await Promise.all([run(path, units, bids), run(path, units, bids.toReversed())])
    const byBid = bids.map((_, index) => [answers[0]?.[index], answers[1]?.toReversed()[index]])
    let sold = 0n
    for (const [index, [one = '', other = '']] of byBid.entries()) {
      const matched = [one, other].filter((answer) => answer.startsWith('{'))
      expect(new Set(matched).size).toBeLessThanOrEqual(1)
      if (matched.length > 0) sold += bids[index]?.body.units ?? 0n
      for (const answer of [one, other]) if (!answer.startsWith('{')) expect(answer).toBe('sold_out')
    }
    expect(sold).toBe(units)
    const selling = await Selling.open(withUnits(units), path)
    expect(selling.sold()).toBe(units)
  })

  for (const [when, sold] of [
    ['inside', 0n],
    ['after', 200n],
  ] as const) {
    it(`have no half sale when one is killed ${when} the update`, async () => {
      const path = bookFile()
      expect(await run(path, 1_000n, [bidOf()], when)).toEqual([])
      const selling = await Selling.open({}, path)
      expect(selling.sold()).toBe(sold)
      expect(selling.book.update((page) => page.countSales())).toBe(sold === 0n ? 0 : 1)
      const match = selling.bid(bidOf())
      expect(match).toHaveProperty('matchRef')
      expect(selling.sold()).toBe(200n)
      expect(selling.bid(bidOf())).toEqual(match)
    })
  }
})

describe('a full disk', () => {
  it.skipIf(!canMount())(
    'loses no sale and sells nothing that it cannot write down (skipped where nothing can be mounted)',
    async () => {
      const folder = dirname(bookFile())
      const disk = new SmallDisk(folder)
      onTestFinished(() => disk.unmount())
      const selling = await Selling.open(withUnits(U64_MAX), join(folder, 'sales.db'))
      const first = selling.bid(bidOf())
      disk.fill()
      let booked = 1
      const fill = () => {
        for (; booked < 1_000; booked += 1) selling.bid(bidOf({ issuedAt: u64(booked), model: 'm2' }))
      }
      // No refusal: the seller cannot tell the peer whether it would have sold.
      expect(fill).toThrow(/full/)
      const refused = bidOf({ issuedAt: u64(booked), model: 'm2' })
      expect(() => selling.bid(refused)).toThrow(/full/)
      expect(selling.sold()).toBe(BigInt(booked) * 200n)
      expect(selling.bid(bidOf())).toEqual(first)
      disk.free()
      expect(selling.bid(refused)).toHaveProperty('matchRef')
      expect(selling.sold()).toBe(BigInt(booked + 1) * 200n)
      selling.stop()
    },
  )
})

function modeOf(path: string): string {
  return (statSync(path).mode & 0o777).toString(8)
}

function begin(path: string, sql: string): void {
  writeFileSync(path, '', { mode: 0o600 })
  const database = new DatabaseSync(path)
  database.exec(sql)
  database.close()
}

/** The answers of a seller in a process of its own to these bids, as far as it lives. */
async function run(path: string, units: bigint, bids: readonly Sealed<CapacityBid>[], killed?: string) {
  const args = [FIXTURE, path, String(units), ...(killed === undefined ? [] : [killed])]
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  child.stdin?.on('error', () => {})
  child.stdin?.end(bids.map((bid) => `${writeExactJson(bidJson(bid))}\n`).join(''))
  const answers: string[] = []
  for await (const line of createInterface({ input: child.stdout ?? process.stdin })) answers.push(line)
  return answers
}
