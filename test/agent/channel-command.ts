/**
 * Commands of channels as scripts see them.
 *
 * @module
 */
import { expect } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import { type Ended, runLine } from './fake-io.ts'

/** Runs `ct-agent channel` with one more word. */
export function runChannel(word: string, env: Env, ...flags: readonly string[]): Promise<Ended> {
  return runLine(['channel', word, ...flags], env)
}

/** The problems with its variables that the command ends with. */
export async function problemsOf(word: string, env: Env): Promise<readonly string[]> {
  const { status, stdout, stderr } = await runChannel(word, env)
  expect([status, stdout]).toEqual([1, ''])
  const lines = stderr.trimEnd().split('\n')
  expect(lines.pop()).toMatch(/^ct-agent channel: ERR_CONFIG_INVALID: /)
  return lines.map((line) => JSON.parse(line.replace(/^Error: /, '')) as string)
}
