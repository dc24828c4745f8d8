/**
 * Runs every static check, says how each went, and fails when one did. Names given as arguments pick single checks.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

const checks = {
  tsc: ['tsc'],
  biome: ['biome', 'ci', '--error-on-warnings'],
  eslint: ['eslint', '--max-warnings=0'],
  depcruise: ['depcruise', '--config', '.dependency-cruiser.mjs', 'bin', 'src', 'test', 'bench', 'scripts'],
  knip: ['knip', '--no-progress'],
}

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const wanted = process.argv.slice(2)
const results = Object.entries(checks)
  .filter(([name]) => wanted.length === 0 || wanted.includes(name))
  .map(([name, command]) => runCheck(name, command))
process.exitCode = results.every(Boolean) ? 0 : 1

/**
 * @param {string} name
 * @param {readonly string[]} command
 */
function runCheck(name, [program = '', ...args]) {
  const started = performance.now()
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: root, encoding: 'utf8' })
  const seconds = ((performance.now() - started) / 1000).toFixed(1)
  if (status === 0) {
    console.log(`ok      ${name} (${seconds} s)`)
    return true
  }
  console.log(`FAILED  ${name} (${seconds} s)\n${error?.message ?? ''}${stdout ?? ''}${stderr ?? ''}`)
  return false
}
