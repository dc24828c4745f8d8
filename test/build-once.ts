/**
 * Builds dist/ before the first test: tests that start the program start what users start.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'

export function setup(): void {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/build.mjs'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`cannot build dist: ${stderr}`)
}
