import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const DOCUMENT = readFileSync('docs/field-reports.md', 'utf8')

interface Row {
  readonly report: string
  readonly tests: readonly { readonly file: string; readonly name: string }[]
}

const ROWS: readonly Row[] = DOCUMENT.split('\n')
  .filter((line) => /^\| [\w-]+\//.test(line))
  .map((line) => {
    const [report = '', , tests = ''] = line.slice('| '.length).split(' | ')
    return { report, tests: namedIn(tests) }
  })

function namedIn(cell: string): Row['tests'] {
  return [...cell.matchAll(/`(test\/[^`]+)`: `([^`]+)`/g)].map(([, file = '', name = '']) => ({ file, name }))
}

describe('each report of the field', () => {
  it('is in the table', () => {
    expect(ROWS.length).toBeGreaterThan(25)
  })

  for (const { report, tests } of ROWS) {
    it(`has a test that is there: ${report}`, () => {
      expect(tests).not.toEqual([])
      for (const { file, name } of tests) expect(readFileSync(file, 'utf8'), file).toContain(name)
    })
  }
})
