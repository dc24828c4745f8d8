/**
 * What a soak found, kept for docs/benchmarks.md when `SOAK_PUBLISH` is set, and beside the figures of the last
 * benchmark otherwise.
 *
 * @module
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describeMachine } from '../../bench/machine.ts'
import { VERSION } from '../../src/core/version.ts'
import { PUBLISHES } from '../faults/settings.ts'

const FILE = PUBLISHES ? 'docs/soak.json' : 'bench/results/soak.json'

/** Replaces what the soak of this name found before. */
export function record(name: string, found: object): void {
  const path = fileURLToPath(new URL(`../../${FILE}`, import.meta.url))
  mkdirSync(dirname(path), { recursive: true })
  const before: unknown = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')) : {}
  const date = new Date().toISOString().slice(0, 10)
  const entry = { version: VERSION, date, machine: describeMachine(), ...found }
  writeFileSync(path, `${JSON.stringify({ ...Object(before), [name]: entry }, null, 2)}\n`)
}
