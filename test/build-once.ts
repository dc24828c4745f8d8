/**
 * Builds dist/ before the first test: tests that start the program start what users start.
 *
 * A broken build leaves no dist/, so that those tests fail and the others still tell what they know.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestProject } from 'vitest/node'

declare module 'vitest' {
  interface ProvidedContext {
    /** Where started programs keep their compiled code, for this run of the tests. */
    codeCache: string
  }
}

export function setup({ provide }: TestProject): () => void {
  const codeCache = mkdtempSync(join(tmpdir(), 'ct-agent-test-cache-'))
  provide('codeCache', codeCache)
  build()
  return () => rmSync(codeCache, { recursive: true, force: true })
}

function build(): void {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { encoding: 'utf8' })
  if (status === 0) return
  rmSync('dist', { recursive: true, force: true })
  process.stderr.write(`cannot build dist: ${stderr}\n`)
}
