import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const STATEMENTS = Array.from({ length: 62 }, (_, index) => `M-${String(index + 1).padStart(2, '0')}`)

const folder = new URL('./', import.meta.url)
const tests = readdirSync(folder)
  .filter((name) => name.endsWith('.test.ts') && name !== 'coverage.test.ts')
  .map((name) => readFileSync(new URL(name, folder), 'utf8'))
const named = new Set(
  tests.flatMap((text) => [...text.matchAll(/'((?:M-\d\d )+)/g)].flatMap(([, ids = '']) => ids.trim().split(' '))),
)
const page = readFileSync(new URL('../../docs/relay-coverage.md', import.meta.url), 'utf8')
const excused = new Set([...page.matchAll(/^\| (M-\d\d) \|/gm)].map(([, id]) => id))

it.each(STATEMENTS)('%s has a test that is named by it, or a reason why not, and not both', (id) => {
  expect([named.has(id), excused.has(id)]).toContain(true)
  expect(named.has(id) && excused.has(id)).toBe(false)
})
