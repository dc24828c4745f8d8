/**
 * Child processes: started, timed, weighed, and ended for certain.
 *
 * @module
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const FIRST_LINE_TIMEOUT_MS = 20_000
/** Linux counts processor time in hundredths of a second. */
const TICKS_PER_SECOND = 100

/** The program as users have it. */
export const PROGRAM = join(root, 'dist', 'ct-agent.js')

export function rivalPath(name: string): string {
  return join(root, 'bench', 'rivals', name)
}

const scratch = mkdtempSync(join(tmpdir(), 'ct-agent-bench-'))
const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

/** An environment with state of its own for each name. */
export function agentEnv(name: string, more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  return { ...process.env, CT_AGENT_STATE_DIR: join(scratch, name), CT_LOG_LEVEL: 'info', ...more }
}

export interface Started {
  readonly child: ChildProcess
  readonly pid: number
  readonly firstLine: string
  /** From the spawn to the first line. */
  readonly milliseconds: number
  /** Everything it has written to stderr so far. */
  readonly complaints: () => string
  readonly stop: () => Promise<void>
}

/** Starts a Node program and waits for its first line on stdout. */
export async function startServer(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Started> {
  const began = performance.now()
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  endAtExit(child)
  let complaints = ''
  child.stderr.on('data', (bytes: Buffer) => {
    complaints += bytes.toString()
  })
  const firstLine = await firstLineOf(child, () => complaints)
  return {
    child,
    pid: child.pid ?? 0,
    firstLine,
    milliseconds: performance.now() - began,
    complaints: () => complaints,
    stop: () => stop(child),
  }
}

/** The child does not outlive this process. */
export function endAtExit(child: ChildProcess): void {
  running.add(child)
  child.once('exit', () => running.delete(child))
}

async function firstLineOf(child: ChildProcess, complaints: () => string): Promise<string> {
  let text = ''
  const found = new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', (bytes: Buffer) => {
      if (text.includes('\n')) return
      text += bytes.toString()
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')))
    })
    child.once('exit', (code) => reject(new Error(`${child.spawnargs.join(' ')} exited with ${code}: ${complaints()}`)))
  })
  const late = AbortSignal.timeout(FIRST_LINE_TIMEOUT_MS)
  const tooLate = once(late, 'abort').then(() => {
    throw new Error(`${child.spawnargs.join(' ')} printed nothing: ${complaints()}`)
  })
  return Promise.race([found, tooLate])
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

/** Runs a program to its end and tells how long that took. */
export async function timeRun(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const began = performance.now()
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', (bytes: Buffer) => {
    complaints += bytes.toString()
  })
  const [code] = await once(child, 'exit')
  if (code !== 0) throw new Error(`${args.join(' ')} exited with ${String(code)}: ${complaints}`)
  return performance.now() - began
}

/** Resident memory in bytes. */
export function memoryOf(pid: number): number {
  const status = `/proc/${pid}/status`
  const kibibytes = existsSync(status)
    ? /^VmRSS:\s+(\d+)/m.exec(readFileSync(status, 'utf8'))?.[1]
    : execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })
  return Number(kibibytes) * 1024
}

/** Processor seconds used so far; `NaN` where the system does not tell. */
export function processorSecondsOf(pid: number): number {
  const path = `/proc/${pid}/stat`
  if (!existsSync(path)) return Number.NaN
  // The name in parentheses may hold blanks; user and system time are the 12th and 13th field after it.
  const fields = readFileSync(path, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
