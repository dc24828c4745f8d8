/**
 * The state of real processes, for tests: read from the system, awaited by polling with a deadline.
 *
 * @module
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { pause, systemClock } from '../../../src/core/time.ts'

const POLL_MS = 10
const DEADLINE_MS = 10_000

export function fixture(name: string): string {
  return fileURLToPath(new URL(`../../fixtures/handlers/${name}`, import.meta.url))
}

/** A path in a folder that is removed after the test. */
export function temporaryPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ct-agent-handler-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'pids')
}

/** @throws {Error} when it does not come true in time */
export async function until(what: string, holds: () => boolean, withinMs: number = DEADLINE_MS): Promise<void> {
  const deadline = systemClock.monotonic() + withinMs
  while (!holds()) {
    if (systemClock.monotonic() > deadline) throw new Error(`expected ${what} within ${withinMs} ms`)
    await pause(systemClock, POLL_MS)
  }
}

/** The pids that a fixture notes in the file; a failed test leaves none of them running. */
export async function pidsIn(path: string): Promise<readonly number[]> {
  await until(`pids in ${path}`, () => existsSync(path))
  const pids = readFileSync(path, 'utf8').trim().split('\n').map(Number)
  onTestFinished(() => {
    for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL')
  })
  return pids
}

/** False for zombies too: they run no more, and whoever adopted them reaps them. */
export function isRunning(pid: number): boolean {
  const state = statusOf(pid)?.state
  return state !== undefined && state !== 'Z'
}

export async function untilGone(pids: readonly number[]): Promise<void> {
  await until(`the end of ${pids.join(', ')}`, () => !pids.some(isRunning))
}

/** Pids of the children of this process or another, zombies included. */
export function children(parent = process.pid): readonly number[] {
  return pids().filter((pid) => statusOf(pid)?.parent === parent)
}

/** Pids of a process group, without zombies. */
export function group(leader: number): readonly number[] {
  return pids().filter((pid) => statusOf(pid)?.group === leader && isRunning(pid))
}

export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

function pids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

interface Status {
  readonly state: string
  readonly parent: number
  readonly group: number
}

function statusOf(pid: number): Status | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name in brackets may hold anything, brackets and blanks included.
  const [state = '', parent, group] = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state, parent: Number(parent), group: Number(group) }
}
