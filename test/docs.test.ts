import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { documents, readDocument, TABLES, tablesIn, withTables } from '../scripts/docs-tables.ts'

const README_MAX_LINES = 150
const ARCHITECTURE_MAX_LINES = 200

describe('the documentation', () => {
  it(`keeps README within ${README_MAX_LINES} lines`, () => {
    expect(readDocument('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(README_MAX_LINES)
  })

  it(`keeps ARCHITECTURE within ${ARCHITECTURE_MAX_LINES} lines`, () => {
    expect(readDocument('ARCHITECTURE.md').trimEnd().split('\n').length).toBeLessThanOrEqual(ARCHITECTURE_MAX_LINES)
  })

  for (const name of Object.keys(TABLES)) {
    it(`shows the ${name} in exactly one document`, () => {
      expect(documents().filter((path) => tablesIn(readDocument(path)).includes(name))).toHaveLength(1)
    })
  }

  for (const path of documents()) {
    it(`shows in ${path} the tables that the code has (else: npm run docs)`, () => {
      const text = readDocument(path)
      expect(withTables(text)).toBe(text)
    })

    it(`links in ${path} only to files that exist`, () => {
      expect(brokenLinks(path)).toEqual([])
    })
  }

  it('packs every file that README links to', () => {
    // npm packs README and LICENSE unasked.
    const packed = [...manifest.files, 'LICENSE']
    const targets = linksIn('README.md')
    expect(targets).not.toEqual([])
    expect(
      targets.filter((target) => !packed.some((kept) => target === kept || target.startsWith(`${kept}/`))),
    ).toEqual([])
  })

  it('says of every runtime dependency why it is there', () => {
    const lines = readDocument('ARCHITECTURE.md').split('\n')
    const unexplained = Object.keys(manifest.dependencies).filter(
      (name) => !lines.some((line) => line.startsWith('|') && line.includes(`\`${name}\``)),
    )
    expect(unexplained).toEqual([])
  })
})

function brokenLinks(path: string): string[] {
  return linksIn(path).filter((target) => !existsSync(join(dirname(path), target)))
}

/** Files that the document links to, without the place within them. */
function linksIn(path: string): string[] {
  return [...readDocument(path).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(([, target]) => target ?? '')
}
