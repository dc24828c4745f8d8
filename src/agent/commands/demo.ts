/**
 * `ct-agent demo`: two agents as two processes of this program. Every line shown is what they really printed.
 *
 * @module
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { formatTicket, parseTicket } from '../../channel/index.ts'
import { type Env } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { type Io, printLine } from '../io.ts'
import { watchShutdown } from '../shutdown.ts'

const SAMPLE = 'One agent must call another, and nothing but the two of them should be trusted.'
/** A demo that takes longer than this has failed. */
const DEMO_TIMEOUT_MS = 60_000

export async function demo(context: Context): Promise<number> {
  const { io } = context
  const folder = mkdtempSync(join(tmpdir(), 'ct-agent-demo-'))
  const shutdown = watchShutdown(io)
  const signal = AbortSignal.any([shutdown.signal, AbortSignal.timeout(DEMO_TIMEOUT_MS)])
  const stage = new Stage(context, folder, signal)
  try {
    return await play(stage, io)
  } finally {
    stage.clear()
    rmSync(folder, { recursive: true, force: true })
    shutdown.dispose()
  }
}

async function play(stage: Stage, io: Io): Promise<number> {
  await printLine(io, 'Two agents, two processes, one encrypted channel on this machine.\n')
  await printLine(io, 'The first serves a tool: a program that counts the words it is given.')
  const { ticket, stop } = await stage.serve([
    'serve',
    '--listen',
    '127.0.0.1:0',
    '--handler',
    'wc -w',
    '--services',
    'word_count',
  ])
  await printLine(io, '\nThe second has the ticket. It asks what there is, then calls.')
  const failures = [
    await stage.ask(ticket, ['tools'], 0),
    await stage.ask(ticket, ['call', 'ping'], 0),
    await stage.ask(ticket, ['call', 'service/word_count', JSON.stringify({ input: SAMPLE })], 0),
  ]
  await printLine(io, '\nWhoever knows the address and the key but not the secret in the ticket is refused.')
  const { holder, addresses } = parseTicket(ticket)
  failures.push(await stage.ask(formatTicket({ holder, addresses }), ['call', 'ping'], REFUSED))
  await printLine(io, '\nThe first agent is stopped; it says goodbye and leaves nothing behind.')
  failures.push(await stop())
  const failed = failures.filter((failure) => failure !== undefined)
  for (const failure of failed) await printLine(io, `! ${failure}`)
  await printLine(io, failed.length === 0 ? '\nYour turn: ct-agent serve' : '\nThe demo failed; ct-agent --help')
  return failed.length === 0 ? 0 : 1
}

/** Exit status of a call that the peer refuses. */
const REFUSED = 3

class Stage {
  readonly #context: Context
  readonly #folder: string
  readonly #signal: AbortSignal
  readonly #children = new Set<ChildProcess>()

  constructor(context: Context, folder: string, signal: AbortSignal) {
    this.#context = context
    this.#folder = folder
    this.#signal = signal
  }

  /** Starts the serving agent and reads its ticket; `stop` returns what went wrong with its end. */
  async serve(args: readonly string[]): Promise<{ ticket: string; stop: () => Promise<string | undefined> }> {
    await this.#showCommand('first', args)
    const child = this.#start('first', args)
    const exit = exitOf(child)
    const notes = text(child.stderr)
    const lines = createInterface({ input: child.stdout })
    const ticket = await Promise.race([
      firstLine(lines),
      exit.then((status) => Promise.reject(failed(`serve ended with status ${status}`))),
    ])
    await this.#show(shorten(ticket))
    return {
      ticket,
      stop: async () => {
        child.kill('SIGTERM')
        const status = await exit
        await this.#show(`(exit status ${status})`)
        const words = (await notes).trim()
        return status === 0 ? undefined : `expected the serving agent to exit with 0, found ${status}: ${words}`
      },
    }
  }

  /** Runs one command of the calling agent and shows what it printed; returns what went wrong. */
  async ask(ticket: string, args: readonly string[], expected: number): Promise<string | undefined> {
    await this.#showCommand('second', args, ticket)
    const started = performance.now()
    const child = this.#start('second', args, { CT_TICKET: ticket })
    const [status, output, errors] = await Promise.all([exitOf(child), text(child.stdout), text(child.stderr)])
    const took = Math.round(performance.now() - started)
    await this.#show(`${output}${errors}`.trimEnd())
    await this.#show(`(exit status ${status}, ${took} ms from start to exit)`)
    return status === expected ? undefined : `expected status ${expected}, found ${status}`
  }

  clear(): void {
    for (const child of this.#children) child.kill('SIGKILL')
  }

  #start(agent: string, args: readonly string[], more: Env = {}) {
    const { execPath, argv } = this.#context.io
    const program = argv[1]
    if (program === undefined) throw failed('the program has no path')
    const child = spawn(execPath, [program, ...args], {
      env: { ...this.#environment(agent), ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: this.#signal,
    })
    child.on('error', () => {})
    this.#children.add(child)
    child.on('close', () => this.#children.delete(child))
    return child
  }

  // Each agent has its own keys; nothing of the surroundings changes what is shown.
  #environment(agent: string): Env {
    const others = Object.entries(this.#context.env).filter(([name]) => !name.startsWith('CT_'))
    return { ...Object.fromEntries(others), CT_AGENT_STATE_DIR: join(this.#folder, agent) }
  }

  async #showCommand(agent: string, args: readonly string[], ticket?: string): Promise<void> {
    const variable = ticket === undefined ? '' : `CT_TICKET=${shorten(ticket)} `
    await printLine(this.#context.io, `\n${agent} agent $ ${variable}ct-agent ${args.map(quoted).join(' ')}`)
  }

  async #show(lines: string): Promise<void> {
    for (const line of lines.split('\n')) await printLine(this.#context.io, `  ${line}`)
  }
}

function firstLine(lines: AsyncIterable<string>): Promise<string> {
  return (async () => {
    for await (const line of lines) return line
    throw failed('serve printed no ticket')
  })()
}

function exitOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    child.on('close', (status) => resolve(status ?? 1))
  })
}

function quoted(word: string): string {
  const short = shorten(word)
  return /^[\w./:-]+…?$/.test(short) ? short : `'${short}'`
}

/** Tickets are long and look all the same. */
function shorten(word: string): string {
  return word.startsWith('ct1') ? `${word.slice(0, 16)}…` : word
}

function failed(problem: string): CtError {
  return new CtError('ERR_INTERNAL', `the demo failed: ${problem}`)
}
