/**
 * A storm: callers call a server through a broker, all of them processes, while one thing after the other goes wrong.
 *
 * @module
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { toHex } from '../../src/core/bytes.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { pause, type Random, systemClock } from '../../src/core/time.ts'
import { type Agent } from '../e2e/agent.ts'
import { Meeting, portOf } from '../e2e/brokered.ts'
import { type Stage } from '../e2e/stage.ts'
import { until } from '../mcp/services/processes.ts'
import { FaultProxy } from './fault-proxy.ts'
import { FAULTS, type Fault, type FaultName, type Sky, type Target } from './faults.ts'
import { between, pick, seeded } from './seeded.ts'
import { type CallerOrder, type ServerOrder, type SoakMember } from './soak-member.ts'
import { judge, type Outcome, type Verdict } from './verdict.ts'

export interface StormPlan {
  readonly seed: number
  /** At least so many calls are made while at least so many faults happen. */
  readonly calls: number
  readonly faults: number
  readonly callers: number
  /** Calls of one caller at once. */
  readonly workers: number
  readonly deadlineMs: number
  readonly thinkMs: number
  readonly workMs: number
  /** From the beginning of one fault to that of the next at least. */
  readonly gapMs: readonly [number, number]
  /** For so long a fault waits for its share of the calls. */
  readonly patienceMs: number
  /** How long what is stopped, held or down stays so; most of them are short. */
  readonly lastsMs: readonly [number, number]
}

export interface StormReport {
  readonly seed: number
  readonly seconds: number
  readonly faults: Readonly<Record<string, number>>
  /** Calls that were made while faults went on; the rest came after the last. */
  readonly callsMeanwhile: number
  readonly verdict: Verdict
}

/** On top of the deadline, for a machine that does much else. */
const GRACE_MS = 3_000
const POLL_MS = 20
const FIRST_ANSWER_MS = 30_000
/** Far more than a call takes when nothing is wrong. */
const MS_PER_CALL = 20

export async function storm(stage: Stage, plan: StormPlan): Promise<StormReport> {
  const sky = await Storm.open(stage, plan)
  const began = performance.now()
  const faults = await sky.rage()
  const callsMeanwhile = sky.calls
  await sky.calm()
  return {
    seed: plan.seed,
    seconds: Math.round((performance.now() - began) / 1_000),
    faults,
    callsMeanwhile,
    verdict: sky.verdict(),
  }
}

/** Small numbers more often than large ones. */
function short(random: Random): Random {
  return () => random() ** 3
}

/** Programs of the fixtures, in one file each, so that they start as fast as what users start. */
async function bundle(stage: Stage): Promise<{ server: string; caller: string }> {
  const from = (name: string): string => fileURLToPath(new URL(`../fixtures/${name}.ts`, import.meta.url))
  const out = stage.path('programs')
  await build({
    entryPoints: [from('counting-server'), from('steady-caller')],
    outdir: out,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.18',
    banner: { js: "import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)" },
    logLevel: 'warning',
  })
  return { server: `${out}/counting-server.mjs`, caller: `${out}/steady-caller.mjs` }
}

class Storm implements Sky {
  readonly #stage: Stage
  readonly #plan: StormPlan
  readonly #meeting: Meeting
  readonly #programs: { readonly server: string; readonly caller: string }
  readonly #brokerPath: FaultProxy
  readonly #log: string
  readonly #serverMember: SoakMember
  #serverPath: FaultProxy
  #broker: Agent
  #brokerPort: string
  #server: Agent | undefined
  readonly #callers: Agent[] = []
  readonly #made: string[] = []
  readonly #outcomes: Outcome[] = []
  /** What is out of order now, and until when. */
  /** What kept a fault from being over. */
  readonly #failures: unknown[] = []
  readonly #under = new Map<Target, Promise<void>>()

  static async open(stage: Stage, plan: StormPlan): Promise<Storm> {
    const meeting = new Meeting(stage)
    const [programs, { agent, address }, brokerPath, serverPath] = await Promise.all([
      bundle(stage),
      meeting.broker(),
      FaultProxy.open(),
      FaultProxy.open(),
    ])
    brokerPath.lead(Number(portOf(address)))
    stage.onClose(() => brokerPath.close())
    const sky = new Storm(stage, plan, { meeting, programs, broker: agent, address, brokerPath, serverPath })
    await sky.startServer()
    for (let index = 0; index < plan.callers; index += 1) sky.#startCaller(index)
    return sky
  }

  private constructor(
    stage: Stage,
    plan: StormPlan,
    parts: {
      readonly meeting: Meeting
      readonly programs: { readonly server: string; readonly caller: string }
      readonly broker: Agent
      readonly address: string
      readonly brokerPath: FaultProxy
      readonly serverPath: FaultProxy
    },
  ) {
    this.#stage = stage
    this.#plan = plan
    this.#meeting = parts.meeting
    this.#programs = parts.programs
    this.#broker = parts.broker
    this.#brokerPort = portOf(parts.address)
    this.#brokerPath = parts.brokerPath
    this.#serverPath = parts.serverPath
    this.#log = stage.path('done')
    writeFileSync(this.#log, '')
    const shown = parts.address.replace(/\/tcp\/\d+/, `/tcp/${parts.brokerPath.port}`)
    this.#memberAt = (): SoakMember => {
      const [holder, noise] = [SecretKey.generate(), SecretKey.generate()]
      return {
        operator: this.#meeting.operator.id,
        channel: this.#meeting.channel,
        holderKey: toHex(holder.reveal()),
        noiseKey: toHex(noise.reveal()),
        grant: this.#meeting.grant(holderKey(holder)),
        broker: shown,
      }
    }
    this.#serverMember = this.#memberAt()
  }

  readonly #memberAt: () => SoakMember

  get calls(): number {
    return this.#made.length
  }

  get brokerPath(): FaultProxy {
    return this.#brokerPath
  }

  get serverPath(): FaultProxy {
    return this.#serverPath
  }

  process(target: 'broker' | 'server' | 'caller', random: () => number): Agent {
    if (target === 'caller') return pick(random, this.#callers)
    return target === 'broker' || this.#server === undefined ? this.#broker : this.#server
  }

  async startBroker(): Promise<void> {
    const { agent } = await this.#meeting.broker({ CT_BROKER_LISTEN: `127.0.0.1:${this.#brokerPort}` })
    this.#broker = agent
  }

  /** At a new address each time. */
  async startServer(): Promise<void> {
    const old = this.#serverPath
    const path = await FaultProxy.open()
    this.#serverPath = path
    await old.close()
    const order: ServerOrder = { ...this.#serverMember, log: this.#log, advertise: path.port }
    const server = this.#stage.run([this.#programs.server, JSON.stringify(order)])
    this.#server = server
    path.lead(Number((await server.line()).split(' ')[1]))
  }

  /** Lets the faults happen, one after the other and one beside the other, each with another victim. */
  async rage(): Promise<Readonly<Record<string, number>>> {
    const { seed, faults, calls, gapMs, lastsMs } = this.#plan
    const random = seeded(seed)
    const counts = new Map<FaultName, number>()
    await until('an answer', () => this.#outcomes.length > 0, FIRST_ANSWER_MS)
    for (let happened = 0; happened < faults; happened += 1) {
      await pause(systemClock, between(random, gapMs))
      await this.#untilMade(((happened + 1) * calls) / (faults + 1))
      const fault = await this.#nextFault(random)
      const over = fault
        .happen(this, { random, lastsMs: between(short(random), lastsMs) })
        .catch((error: unknown) => {
          this.#failures.push(error)
        })
        .finally(() => this.#under.delete(fault.target))
      this.#under.set(fault.target, over)
      counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1)
    }
    await Promise.all(this.#under.values())
    if (this.#failures.length > 0) throw this.#failures[0]
    return Object.fromEntries([...counts].toSorted())
  }

  /** Faults are spread over the calls, but calls that do not get on do not keep the next fault away for long. */
  async #untilMade(calls: number): Promise<void> {
    const latest = performance.now() + this.#plan.patienceMs
    while (this.#made.length < calls && performance.now() < latest) await pause(systemClock, POLL_MS)
  }

  /** One whose victim is in order. */
  async #nextFault(random: Random): Promise<Fault> {
    for (;;) {
      const fault = pick(random, FAULTS)
      const victims = [fault.target, ...(fault.spoils ?? [])]
      if (!victims.some((target) => this.#under.has(target))) return fault
      await pause(systemClock, POLL_MS)
    }
  }

  /** Waits until there were enough calls and, as far as they do, all have ended. */
  async calm(): Promise<void> {
    const { calls, deadlineMs } = this.#plan
    await until(`${calls} calls`, () => this.#made.length >= calls, deadlineMs + calls * MS_PER_CALL)
    for (const caller of this.#callers) caller.end()
    const ends = this.#callers.map(({ exit }) => exit)
    await Promise.race([Promise.all(ends), pause(systemClock, deadlineMs + 2 * GRACE_MS)])
  }

  verdict(): Verdict {
    const done = readFileSync(this.#log, 'utf8').split('\n').slice(0, -1)
    // A caller that is stopped cannot notice that its time is up.
    const latestMs = this.#plan.deadlineMs + this.#plan.lastsMs[1] + GRACE_MS
    return judge({ made: this.#made, outcomes: this.#outcomes, done, latestMs })
  }

  #startCaller(index: number): void {
    const { workers, deadlineMs, thinkMs, workMs, seed } = this.#plan
    const order: CallerOrder = {
      ...this.#memberAt(),
      name: `c${index}`,
      server: holderKey(new SecretKey(Buffer.from(this.#serverMember.holderKey, 'hex'))).id,
      workers,
      deadlineMs,
      thinkMs,
      workMs,
      seed: seed + index + 1,
    }
    const caller = this.#stage.run([this.#programs.caller, JSON.stringify(order)], { ownStdout: true })
    const { stdout } = caller.child
    if (stdout === null) throw new TypeError('expected stdout')
    createInterface({ input: stdout }).on('line', (line) => {
      if (line.startsWith('+')) this.#made.push(line.slice(1))
      else this.#outcomes.push(JSON.parse(line) as Outcome)
    })
    this.#callers.push(caller)
  }
}
