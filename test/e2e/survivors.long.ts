import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { pause, type Random, systemClock } from '../../src/core/time.ts'
import { between, pick, seeded } from '../faults/seeded.ts'
import { children, fixture, group, isRunning, until } from '../mcp/services/processes.ts'
import { type Agent } from './agent.ts'
import { killed, markedProcesses } from './marked.ts'
import { it, PROGRAM, type Stage, stateOf } from './stage.ts'

const SEED = 20_261_201
const RUNS = 1_000
const HOSTS = 3
/** Between two kills. */
const GAP_MS = [10, 60] as const
/** Calls of an adapter that was killed are given up after a grace time, in which it could have come back. */
const SETTLED_WITHIN_MS = 40_000
const STEADY_MS = 300

const HOST = fileURLToPath(new URL('../fixtures/restless-host.ts', import.meta.url))
const ODD = fileURLToPath(new URL('../fixtures/servers/odd.ts', import.meta.url))

/** Who is killed, by the words of its command line; those of `serve` match none. */
const ROLES = {
  handler: /^\/bin\/sh \S*restless\.sh/,
  grandchild: /^sleep 300/,
  leader: /^\/bin\/sh -c .* ct-agent-(handler|mcp-server) /s,
  server: /^\S+ --no-warnings \S*odd\.ts/,
  adapter: /^\S+ \S*ct-agent\.js mcp /,
  host: /^\S+ --no-warnings \S*restless-host\.ts/,
} as const satisfies Readonly<Record<string, RegExp>>
type Role = keyof typeof ROLES
/** What takes long to come back is killed less often. */
const CHANCES: readonly Role[] = [
  ...Array.from({ length: 40 }, (): Role => 'handler'),
  ...Array.from({ length: 24 }, (): Role => 'grandchild'),
  ...Array.from({ length: 20 }, (): Role => 'leader'),
  ...Array.from({ length: 8 }, (): Role => 'server'),
  'adapter',
  'host',
]

interface Serving {
  readonly agent: Agent
  readonly ticket: string
  readonly descriptors: number
}

/** Without those that lead to its children: each has a pipe for stdin, stdout, stderr and its guard. */
function ownDescriptors(pid: number): number {
  return readdirSync(`/proc/${pid}/fd`).length - 4 * children(pid).length
}

async function steady(pid: number): Promise<number> {
  for (;;) {
    const before = ownDescriptors(pid)
    await pause(systemClock, STEADY_MS)
    if (ownDescriptors(pid) === before) return before
  }
}

/** Serves, and is called once, so that what is opened only once is open. */
async function serve(stage: Stage, mark: string, name: string, ...words: readonly string[]): Promise<Serving> {
  const [variable = '', value = ''] = mark.split('=')
  const agent = stage.start(['serve', '--listen', '127.0.0.1:0', ...words], {
    // Runs of an adapter that was killed keep their places for a while.
    env: stateOf(stage, name, { [variable]: value, CT_AGENT_SERVICE_CONCURRENCY: '48' }),
  })
  const ticket = await agent.line()
  await expectAnswer(stage, ticket)
  return { agent, ticket, descriptors: await steady(agent.pid) }
}

async function expectAnswer(stage: Stage, ticket: string): Promise<void> {
  const { status, stdout, stderr } = await stage.finish(['call', ticket, 'ping'], { env: stateOf(stage, 'caller') })
  expect(`${status} ${stdout} ${stderr}`).toContain('pong')
}

/** Kills one of those that run, if there is one in the role that comes up. */
function strike(random: Random, mark: string, counts: Map<Role, number>): void {
  const role = pick(random, CHANCES)
  const candidates = markedProcesses(mark).filter(({ words }) => ROLES[role].test(words))
  if (candidates.length > 0 && killed(pick(random, candidates))) counts.set(role, (counts.get(role) ?? 0) + 1)
}

it.skipIf(!existsSync('/proc/self/environ'))(
  `nothing survives, no zombie and no descriptor, ${RUNS} runs of a handler with random kills of all that take part`,
  { timeout: 150_000 },
  async ({ stage }) => {
    const mark = `SURVIVORS_OF=${randomUUID()}`
    const [variable = '', value = ''] = mark.split('=')
    const runs = stage.path('runs')
    stage.touch(runs)
    stage.onClose(() => {
      for (const one of markedProcesses(mark)) killed(one)
    })
    const handler = `exec /bin/sh '${fixture('restless.sh')}' '${runs}'`
    const server = `sleep 300 & exec '${process.execPath}' --no-warnings '${ODD}'`
    const served = await Promise.all([
      serve(stage, mark, 'handling', '--handler', handler, '--services', 'echo'),
      serve(stage, mark, 'wrapping', '--', 'sh', '-c', server),
    ])
    const [handling] = served
    const tickets = served.map(({ ticket }) => ticket)
    const random = seeded(SEED)

    const host = (place: number): Agent =>
      stage.run(['--no-warnings', HOST, String(between(random, [0, 1_000_000])), PROGRAM, ...tickets], {
        env: stateOf(stage, `host${place}`, { [variable]: value }),
      })
    const hosts = Array.from({ length: HOSTS }, (_, place) => host(place))
    const counts = new Map<Role, number>()
    const isEnough = (): boolean =>
      readFileSync(runs, 'utf8').length / 'run\n'.length >= RUNS && counts.size === Object.keys(ROLES).length
    while (!isEnough()) {
      await pause(systemClock, between(random, GAP_MS))
      strike(random, mark, counts)
      for (const [place, one] of hosts.entries()) if (!isRunning(one.pid)) hosts[place] = host(place)
    }
    for (const one of hosts) await one.kill()

    /** What runs, but for those that serve and what they have in hand. */
    const left = (): readonly string[] => {
      const known = new Set(served.flatMap(({ agent }) => [agent.pid, ...children(agent.pid).flatMap(group)]))
      return markedProcesses(mark)
        .filter(({ pid }) => !known.has(pid))
        .map(({ pid, words }) => `${pid} ${words}`)
    }
    await until('the end of the runs', () => children(handling.agent.pid).length === 0, SETTLED_WITHIN_MS)
    await until('the end of the rest', () => left().length === 0).catch(() => {})
    expect(left()).toEqual([])
    for (const { agent, ticket, descriptors: before } of served) {
      expect(children(agent.pid).filter((pid) => !isRunning(pid))).toEqual([])
      await until('descriptors to be closed', () => ownDescriptors(agent.pid) <= before).catch(() => {})
      expect(ownDescriptors(agent.pid)).toBeLessThanOrEqual(before)
      await expectAnswer(stage, ticket)
      agent.signal('SIGTERM')
      expect(await agent.exit).toEqual({ status: 0, signal: null })
    }
    await until('the end of all', () => markedProcesses(mark).length === 0).catch(() => {})
    expect(left()).toEqual([])
  },
)
