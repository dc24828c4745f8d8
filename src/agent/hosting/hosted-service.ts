/**
 * The tools of peers for MCP hosts, be it one over stdio or many over HTTP: one set of connections for all of them.
 *
 * Holds: hosts are answered from the start, whoever is there; a peer is dialled only when a host first asks for tools.
 * A call waits for its own peer alone, a list for all of them, and neither for longer than a bound. Hosts that asked for
 * the list are told when it changes.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { CtError } from '../../core/errors.ts'
import { type JsonObject } from '../../core/json.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { VERSION } from '../../core/version.ts'
import { toolsChangedText } from '../../mcp/adapter/index.ts'
import { createCallLedger, News, type Port, type ServedLink, serveMcp, type ToolRegistry } from '../../mcp/index.ts'
import { type HostedPeer, type HostedPeerOptions } from './hosted-peer.ts'
import { hostedTools, peersFor } from './hosted-tools.ts'
import { HostedUpstream } from './hosted-upstream.ts'
import { InputRounds } from './input-rounds.ts'

export interface HostedServiceDeps {
  /** Makes the peers; each tells when it has changed. */
  readonly peers: (onChange: HostedPeerOptions['onChange']) => readonly HostedPeer[]
  readonly clock: Clock
  readonly log: Log
  /** There is one host only: servers behind peers may ask it what it says that it can do. */
  readonly isOneHost?: boolean
  /** They may ask for the folders in which it works. */
  readonly roots?: boolean
  /** What the one host can do, where it says so in each of its requests. */
  readonly declares?: JsonObject | undefined
  /** A host is about to ask for the peers. */
  readonly onUse?: () => void
}

/** What the host asks waits no longer for peers; those that are late follow in a change of the list. */
const PREPARE_LIMIT_MS = 10_000
/** Goodbyes to peers take no longer when the hosts are gone. */
const GOODBYE_MS = 700

export class HostedService {
  readonly #clock: Clock
  readonly #log: Log
  readonly #onUse: () => void
  readonly #peers: readonly HostedPeer[]
  readonly #ledger: ReturnType<typeof createCallLedger>
  /** Told when the list changes. */
  readonly #hosts = new Set<() => void>()
  readonly #upstream: HostedUpstream
  /** Where there are many hosts, none is asked. */
  readonly #rounds: InputRounds | undefined
  readonly #news = new News()
  #registry: ToolRegistry

  constructor({ peers, clock, log, isOneHost = false, roots = false, declares, onUse = () => {} }: HostedServiceDeps) {
    this.#clock = clock
    this.#log = log
    this.#onUse = onUse
    this.#ledger = createCallLedger(clock)
    this.#peers = peers(() => this.#changed())
    const rounds = new InputRounds({ clock, roots })
    this.#rounds = isOneHost ? rounds : undefined
    this.#registry = hostedTools(this.#peers, this.#rounds)
    const prepare = (): Promise<void> | undefined => this.#prepare(undefined)
    this.#upstream = new HostedUpstream({
      peers: this.#peers,
      prepare,
      isOneHost,
      roots,
      rounds,
      declares,
      news: this.#news,
    })
  }

  /** Serves one host until its port closes. */
  serve(port: Port): ServedLink {
    let wasListed = false
    const registry = (): ToolRegistry => this.#registry
    const link = serveMcp(port, {
      registry: {
        find: (name) => registry().find(name),
        get list() {
          wasListed = true
          return registry().list
        },
      },
      prepare: (tool) => this.#prepare(tool),
      upstream: this.#upstream,
      ledger: this.#ledger,
      serverInfo: { name: 'ct-agent', version: VERSION, listChanges: true },
      news: this.#news,
      randomId: randomUUID,
      log: this.#log,
    })
    const tell = (): void => {
      // Who has not asked yet has nothing to ask again; those of the newest revision ask for such news themselves.
      if (!link.isInitialized || !wasListed) return
      port
        .send({ text: toolsChangedText() })
        .catch((error: unknown) => this.#log.info('host.gone', { reason: String(error) }))
    }
    this.#hosts.add(tell)
    void port.closed.then(() => this.#hosts.delete(tell))
    return link
  }

  /** A call waits for its host to answer what was asked. */
  get isWaiting(): boolean {
    return this.#rounds?.isWaiting === true
  }

  /** It is the call that was given this name. */
  waitsFor(state: string): boolean {
    return this.#rounds?.waitsFor(state) === true
  }

  /** A server may stand behind one of the peers, as far as it is known by now. */
  get mayAsk(): boolean {
    return this.#peers.some(({ isListed, offers }) => !isListed || offers !== undefined)
  }

  /** What a tool takes, as far as it is known by now. */
  schemaOf(tool: string): JsonObject | undefined {
    return this.#registry.find(tool)?.inputSchema
  }

  /** Lets its links go until they are asked for again. False while something is under way on one. */
  rest(): boolean {
    return this.#peers.map((peer) => peer.rest()).every(Boolean)
  }

  /** Says goodbye to the peers. */
  async close(): Promise<void> {
    this.#rounds?.close(new CtError('ERR_CALL_CANCELLED', 'the host is gone'))
    await within(this.#clock, GOODBYE_MS, Promise.all(this.#peers.map((peer) => peer.close())))
  }

  #prepare(tool: string | undefined): Promise<void> | undefined {
    this.#onUse()
    const asked = tool === undefined ? this.#peers : peersFor(tool, this.#peers)
    const attempts = asked.flatMap((peer) => peer.prepare() ?? [])
    return attempts.length === 0 ? undefined : within(this.#clock, PREPARE_LIMIT_MS, Promise.all(attempts))
  }

  #changed(): void {
    this.#registry = hostedTools(this.#peers, this.#rounds)
    for (const tell of this.#hosts) tell()
    this.#news.tell('notifications/tools/list_changed')
  }
}

/** Resolves with the work, or when the time is up. */
async function within(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>()
  const cancel = clock.after(ms, late.resolve)
  await Promise.race([work, late.promise])
  cancel()
}
