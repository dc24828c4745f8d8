import { PassThrough } from 'node:stream'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Caller } from '../../../src/agent/calling/caller.ts'
import { serveHost } from '../../../src/agent/hosting/host-session.ts'
import { HostedPeer } from '../../../src/agent/hosting/hosted-peer.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type JsonValue } from '../../../src/core/json.ts'
import { openLinePort } from '../../../src/mcp/adapter/index.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { silentLog } from '../../silent-log.ts'

type Message = Readonly<Record<string, unknown>>

/** A host, and peers of which each is connected to at once but lists its tools only when told to. */
class Scene {
  readonly clock = new FakeClock()
  readonly said: Message[] = []
  readonly #lists = new Map<string, PromiseWithResolvers<void>>()
  readonly #asked: string[] = []
  #say: (line: string) => void = () => {}
  readonly #stop = new AbortController()

  constructor(...labels: readonly string[]) {
    const { clock } = this
    const lines = new PassThrough()
    this.#say = (line) => lines.write(line)
    const write = (line: string): Promise<void> => {
      this.said.push(JSON.parse(line) as Message)
      return Promise.resolve()
    }
    const peers = (onChange: () => void) =>
      labels.map((label) => {
        this.#lists.set(label, Promise.withResolvers())
        const open = () => Promise.resolve(this.#caller(label))
        return new HostedPeer({ label, open, onChange, clock, random: () => 0.5, log: silentLog })
      })
    const served = serveHost(openLinePort({ input: lines, write }), {
      peers,
      clock,
      log: silentLog,
      signal: this.#stop.signal,
    })
    onTestFinished(async () => {
      this.#stop.abort()
      await served
    })
  }

  #caller(label: string): Caller {
    const stopped = Promise.withResolvers<CtError>()
    return {
      call: async (method) => {
        if (method === 'tools/list') {
          this.#asked.push(label)
          await this.#lists.get(label)?.promise
        }
        const text = method === 'tools/list' ? '{"tools":[{"name":"who"}]}' : JSON.stringify({ who: label })
        return { text: `{"jsonrpc":"2.0","id":1,"result":${text}}`, result: JSON.parse(text) as JsonValue }
      },
      stopped: stopped.promise,
      isStopped: () => false,
      close: () => stopped.resolve(new CtError('ERR_LINK_CLOSED', 'closed')),
      finish: () => Promise.resolve(),
    }
  }

  lists(label: string): void {
    this.#lists.get(label)?.resolve()
  }

  /** Peers that were asked for their tools. */
  get asked(): readonly string[] {
    return this.#asked.toSorted()
  }

  async say(message: Message): Promise<void> {
    this.#say(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
    await settled()
  }

  async initialize(): Promise<void> {
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '0' } }
    await this.say({ id: 0, method: 'initialize', params })
    await this.say({ method: 'notifications/initialized' })
  }

  /** What was answered to the request with this id, if anything was. */
  answer(id: number): unknown {
    return this.said.find((message) => message['id'] === id)?.['result']
  }

  names(id: number): unknown {
    return (this.answer(id) as { tools: { name: string }[] } | undefined)?.tools.map(({ name }) => name)
  }
}

/** Lines travel through streams, which take turns of their own. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

const LIST_CHANGED = { jsonrpc: '2.0', method: 'notifications/tools/list_changed' }

describe('a host with several peers', () => {
  it('is shown those that are there when one does not list its tools in time, and told when it does', async () => {
    const scene = new Scene('quick', 'silent')
    await scene.initialize()
    await scene.say({ id: 1, method: 'tools/list' })
    scene.lists('quick')
    await settled()
    scene.clock.advance(9_999)
    await settled()
    expect(scene.answer(1)).toBeUndefined()
    scene.clock.advance(1)
    await settled()
    expect(scene.names(1)).toEqual(['quick_who'])
    scene.lists('silent')
    scene.clock.advance(30_000)
    await settled()
    expect(scene.said.filter(({ method }) => method !== undefined).at(-1)).toMatchObject(LIST_CHANGED)
    await scene.say({ id: 2, method: 'tools/list' })
    expect(scene.names(2)).toEqual(['quick_who', 'silent_who'])
  })

  it('reaches one of them without asking or waiting for the others', async () => {
    const scene = new Scene('quick', 'silent')
    await scene.initialize()
    scene.lists('quick')
    await scene.say({ id: 1, method: 'tools/call', params: { name: 'quick_who' } })
    expect(scene.answer(1)).toMatchObject({ structuredContent: { who: 'quick' } })
    expect(scene.asked).toEqual(['quick'])
  })

  it('learns within the bound that a name cannot be told while a peer has not listed its tools', async () => {
    const scene = new Scene('quick', 'silent')
    await scene.initialize()
    scene.lists('quick')
    await scene.say({ id: 1, method: 'tools/call', params: { name: 'who' } })
    expect(scene.asked).toEqual(['quick', 'silent'])
    scene.clock.advance(10_000)
    await settled()
    expect(scene.answer(1)).toMatchObject({
      isError: true,
      structuredContent: { code: expect.stringMatching(/^ERR_PEER/) as string },
    })
  })
})
