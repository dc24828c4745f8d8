/**
 * Builds dist/ before the first test: tests that start the program start what users start.
 *
 * A broken build leaves no dist/, so that those tests fail and the others still tell what they know.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'

export function setup(): void {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs', '--if-stale'], { encoding: 'utf8' })
  if (status === 0) return
  rmSync('dist', { recursive: true, force: true })
  process.stderr.write(`cannot build dist: ${stderr}\n`)
}
