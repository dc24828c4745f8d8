/**
 * Whether an MCP server that is to be served starts, answers, and keeps its stdout clean.
 *
 * Holds: it is asked nothing but who it is; it and what it started are ended before the check is over; of what it says
 * no more than a bound is kept.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { type Env, quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { isJsonObject } from '../../core/json.ts'
import { VERSION } from '../../core/version.ts'
import { withoutAgentVariables } from '../../mcp/services/index.ts'
import { readLines } from '../line-reader.ts'
import { type Finding, found } from './catalogue.ts'

/** Leaves time to report within the limit of a check. */
const ANSWER_MS = 8_000
/** An answer to `initialize` takes far less. */
const MAX_LINE_BYTES = 1_048_576
const MAX_LINES = 1_000
const MAX_STDERR_CHARS = 2_000
/** What a shell ends with when there is no such program, and when it may not be run. */
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126

const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'ct-agent', version: VERSION } },
})

export async function checkServer(command: string | undefined, env: Env, signal: AbortSignal): Promise<Finding> {
  if (command === undefined || command.trim() === '') return found('server.skipped', 'no MCP server is set')
  if (process.platform === 'win32') return found('server.skipped', 'not checked on Windows')
  const child = spawn('sh', ['-c', command], { env: withoutAgentVariables(env), stdio: 'pipe', detached: true })
  const stop = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)])
  try {
    return await watch(child, stop)
  } finally {
    endGroup(child)
  }
}

async function watch(child: ChildProcess, stop: AbortSignal): Promise<Finding> {
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null || stderr === null) throw new CtError('ERR_INTERNAL', 'a child without pipes')
  let words = ''
  stderr.on('data', (chunk: Uint8Array) => {
    words = (words + Buffer.from(chunk).toString()).slice(-MAX_STDERR_CHARS)
  })
  const ended = new Promise<number | undefined>((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('close', (status) => resolve(status ?? undefined))
  })
  const said: Said = {}
  const silent = new Promise<Finding>((resolve) => {
    const report = (): void =>
      resolve(dirtIn(said) ?? found('server.silent', `no answer within ${ANSWER_MS / 1_000} s`))
    stop.addEventListener('abort', report, { once: true })
  })
  stdin.on('error', () => {})
  stdin.write(`${INITIALIZE}\n`)
  const answered = firstAnswer(stdout, said).then(async (finding) => finding ?? endFinding(await ended, words))
  return Promise.race([answered, silent])
}

interface Said {
  /** The first line on stdout that is no message. */
  dirt?: string
}

function dirtIn({ dirt }: Said): Finding | undefined {
  if (dirt === undefined) return undefined
  return found('server.stdout', `on stdout, where MCP messages belong, it wrote ${quote(dirt)}`)
}

/** Nothing when stdout ends before it said anything. */
async function firstAnswer(stdout: AsyncIterable<Uint8Array>, said: Said): Promise<Finding | undefined> {
  let lines = 0
  for await (const line of readLines(stdout, MAX_LINE_BYTES)) {
    lines += 1
    const text = 'problem' in line ? '(a line without an end)' : line.text
    const message = parse(text)
    if (message === undefined && text.trim() !== '') said.dirt ??= text
    const isAnswer = message?.['id'] === 1 && ('result' in message || 'error' in message)
    if (isAnswer) return dirtIn(said) ?? found('server.ok', `it answers${nameIn(message)}`)
    if (lines > MAX_LINES) break
  }
  return dirtIn(said)
}

function parse(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) && value['jsonrpc'] === '2.0' ? value : undefined
  } catch {
    return undefined
  }
}

function nameIn({ result }: Readonly<Record<string, unknown>>): string {
  const info = isJsonObject(result) ? result['serverInfo'] : undefined
  return isJsonObject(info) && typeof info['name'] === 'string' ? `: ${quote(info['name'])}` : ''
}

function endFinding(status: number | undefined, words: string): Finding {
  const last = words.trim().split('\n').at(-1) ?? ''
  const said = last === '' ? '' : `; its last words: ${quote(last)}`
  if (status === NOT_FOUND) return found('server.missing', `there is no such program${said}`)
  if (status === NOT_EXECUTABLE) return found('server.missing', `this user may not run it${said}`)
  return found('server.ended', `it ended before it answered (status ${status ?? 'unknown'})${said}`)
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}
