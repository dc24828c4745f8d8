/**
 * A small internet of network namespaces: one public network with a broker, and sites behind routers of several kinds.
 *
 * Holds: whatever becomes of a test, its namespaces are gone when it closes; those that a killed run left are removed by
 * the next one. Nothing here touches the network of the machine itself.
 *
 * @module
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { hostScript, publicAddress, publicHostScript, publicScript, routerScript, type SiteKind } from './routers.ts'

const PREFIX = 'ctnat'
const FOLDER = '/run/netns'

/** A machine of a site. */
export interface Host {
  /** Begins a command that is to run there. */
  readonly command: readonly [string, ...string[]]
  readonly namespace: string
  /** Of its own site's network. */
  readonly address: string
  /** Where the rest of the world sees it. */
  readonly publicAddress: string
}

export class Network {
  readonly broker: readonly [string, ...string[]]
  readonly #prefix: string
  readonly #hub: string
  readonly #broker: string
  readonly #namespaces: string[] = []
  #sites = 0

  /** Why there can be no such network here; `undefined` where there can. */
  static problem(): string | undefined {
    if (process.platform !== 'linux') return `expected Linux, found ${process.platform}`
    if (process.getuid?.() !== 0) return 'expected to run as root'
    for (const [program, ...args] of [
      ['ip', '-V'],
      ['nft', '--version'],
    ] as const) {
      if (spawnSync(program, args).status !== 0) return `expected the program ${program}, found none`
    }
    const probe = `${PREFIX}-${process.pid}-probe`
    const tried = shell(`ip netns add ${probe}\nip netns exec ${probe} nft list ruleset\n`)
    spawnSync('ip', ['netns', 'del', probe])
    return tried === undefined ? undefined : `expected to be allowed network namespaces, found ${tried}`
  }

  constructor() {
    sweep()
    this.#prefix = `${PREFIX}-${process.pid}-${Math.floor(performance.now())}`
    this.#hub = this.#add('hub')
    this.#broker = this.#add('broker')
    this.broker = within(this.#broker)
    run(publicScript(this.#hub, this.#broker))
    process.once('exit', () => this.close())
  }

  /** A site of its own with so many machines. */
  site(kind: SiteKind, hosts = 1): readonly Host[] {
    this.#sites += 1
    const number = this.#sites
    const router = this.#add(`r${number}`)
    const lines = [routerScript({ kind, number, hub: this.#hub, broker: this.#broker, router })]
    const found: Host[] = []
    for (let index = 1; index <= hosts; index += 1) {
      const namespace = this.#add(`h${number}-${index}`)
      const { script, address, publicAddress } = hostScript({ kind, number, index, router, namespace })
      lines.push(script)
      found.push({ command: within(namespace), namespace, address, publicAddress })
    }
    run(lines.join('\n'))
    return found
  }

  /** A machine that everybody can dial. */
  publicHost(): Host {
    this.#sites += 1
    const namespace = this.#add(`h${this.#sites}`)
    const address = publicAddress(this.#sites)
    run(publicHostScript(this.#hub, this.#sites, namespace))
    return { command: within(namespace), namespace, address, publicAddress: address }
  }

  /** What passes between these two sites directly is lost from now on, without a word. */
  cut(one: Host, other: Host): void {
    const drop = `ip saddr ${one.publicAddress} ip daddr ${other.publicAddress} drop`
    const back = `ip saddr ${other.publicAddress} ip daddr ${one.publicAddress} drop`
    run(`ip netns exec ${this.#hub} nft add rule bridge cut forward ${drop}
ip netns exec ${this.#hub} nft add rule bridge cut forward ${back}`)
  }

  close(): void {
    for (const name of this.#namespaces.splice(0).reverse()) remove(name)
  }

  #add(name: string): string {
    const namespace = `${this.#prefix}-${name}`
    this.#namespaces.push(namespace)
    run(`ip netns add ${namespace}\nip -n ${namespace} link set lo up`)
    return namespace
  }
}

function within(namespace: string): readonly [string, ...string[]] {
  return ['ip', 'netns', 'exec', namespace, process.execPath]
}

/** Namespaces of runs that are no more. */
function sweep(): void {
  for (const name of namespaces()) {
    const owner = new RegExp(`^${PREFIX}-(\\d+)-`).exec(name)?.[1]
    if (owner !== undefined && Number(owner) !== process.pid && !isAlive(Number(owner))) remove(name)
  }
}

function namespaces(): readonly string[] {
  try {
    return readdirSync(FOLDER)
  } catch {
    return []
  }
}

function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').length > 0
  } catch {
    return false
  }
}

/** Ends what still runs there, which would keep the namespace alive. */
function remove(namespace: string): void {
  const pids = spawnSync('ip', ['netns', 'pids', namespace], { encoding: 'utf8' }).stdout ?? ''
  for (const pid of pids.split('\n').filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It ended by itself.
    }
  }
  spawnSync('ip', ['netns', 'del', namespace])
}

function run(script: string): void {
  const problem = shell(script)
  if (problem !== undefined) throw new Error(`cannot build the network: ${problem}`)
}

/** What went wrong; `undefined` when all went well. */
function shell(script: string): string | undefined {
  const { status, stderr, error } = spawnSync('sh', ['-e'], { input: script, encoding: 'utf8' })
  return status === 0 ? undefined : (error?.message ?? stderr.trim())
}
