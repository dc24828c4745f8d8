/**
 * Where a test plays: a folder outside the repository, the programs that run in it, and what must hold of all of them.
 *
 * Holds: when a test is over, whatever came of it, none of its processes runs and its folder is gone. No program ever
 * prints a stack trace, a warning of Node, or a colour where there is no terminal.
 *
 * @module
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inject, test } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import { Agent, type StartOptions } from './agent.ts'

export const PROGRAM = fileURLToPath(new URL('../../dist/ct-agent.js', import.meta.url))

/** Tests of processes wait for the machine, not for a fixed time. */
export const SLOW = { timeout: 60_000 } as const

/** Marks of a defect in the words of a program. */
const DEFECTS: readonly RegExp[] = [
  /^\s+at .+:\d+:\d+\)?$/m,
  /unhandled ?rejection/i,
  /internal error/,
  /ERR_INTERNAL/,
  /^\(node:\d+\)/m,
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the beginning of a colour
  /\u001b\[/,
]

type Options = Partial<Omit<StartOptions, 'folder'>>

export class Stage {
  readonly folder = mkdtempSync(join(tmpdir(), 'ct-agent-e2e-'))
  readonly #agents: Agent[] = []
  readonly #cleanups: (() => void | Promise<void>)[] = []

  path(name: string): string {
    return join(this.folder, name)
  }

  /** Makes an empty file. */
  touch(path: string): void {
    writeFileSync(path, '')
  }

  /** Starts the program with no variables but the given ones and those that every program has. */
  start(args: readonly string[], { env = {}, ...options }: Options = {}): Agent {
    return this.run([PROGRAM, ...args], { ...options, env })
  }

  run(program: readonly string[], { env = {}, ...options }: Options = {}): Agent {
    const home = this.path('home')
    mkdirSync(home, { recursive: true })
    const agent = new Agent(program, {
      ...options,
      folder: this.folder,
      env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: home, XDG_CACHE_HOME: inject('codeCache'), ...env },
    })
    this.#agents.push(agent)
    return agent
  }

  /** Starts the program and waits for its end. */
  async finish(args: readonly string[], options: Options & { readonly input?: string } = {}) {
    const { input, ...rest } = options
    const agent = this.start(args, rest).end(input)
    const { status } = await agent.exit
    return { status, stdout: agent.stdout, stderr: agent.stderr }
  }

  onClose(cleanup: () => void | Promise<void>): void {
    this.#cleanups.push(cleanup)
  }

  async close(): Promise<void> {
    for (const agent of this.#agents) await agent.kill()
    for (const cleanup of this.#cleanups) await cleanup()
    rmSync(this.folder, { recursive: true, force: true })
    for (const { stderr, stdout } of this.#agents) {
      const defect = DEFECTS.map((mark) => mark.exec(`${stderr}\n${stdout.slice(0, 100_000)}`)?.[0]).find(Boolean)
      if (defect !== undefined) throw new Error(`expected no defect in what programs print, found ${defect}: ${stderr}`)
    }
  }
}

export const it = test.extend<{ stage: Stage }>({
  stage: async ({ task: _ }, use) => {
    const stage = new Stage()
    await use(stage)
    await stage.close()
  },
})

/** Variables of an agent with state of its own. */
export function stateOf(stage: Stage, name: string, env: Env = {}): Env {
  return { CT_AGENT_STATE_DIR: stage.path(name), ...env }
}
