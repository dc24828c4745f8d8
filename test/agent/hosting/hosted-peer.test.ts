import { describe, expect, it } from 'vitest'
import { type Caller } from '../../../src/agent/calling/caller.ts'
import { HostedPeer, type OnTrouble } from '../../../src/agent/hosting/hosted-peer.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { type JsonValue } from '../../../src/core/json.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'
import { silentLog } from '../../silent-log.ts'

const UNREACHABLE = new CtError('ERR_PEER_UNREACHABLE', 'no answer')
const REMOVED = new CtError('ERR_MEMBER_REMOVED', 'out')
const PING = { name: 'ping', description: 'd', inputSchema: { type: 'object' } }

/** A peer that is connected to as often as the test says how it goes. */
class Scene {
  readonly clock = new FakeClock()
  readonly changes: number[] = []
  readonly attempts: PromiseWithResolvers<Caller>[] = []
  /** None: it does not answer. */
  tools: JsonValue[] | undefined = [PING]
  onTrouble: OnTrouble = () => {}
  stop: (reason: CtError) => void = () => {}
  readonly peer = new HostedPeer({
    label: 'bob',
    open: (_, onTrouble) => {
      this.onTrouble = onTrouble
      const attempt = Promise.withResolvers<Caller>()
      this.attempts.push(attempt)
      return attempt.promise
    },
    onChange: () => this.changes.push(this.peer.tools.length),
    clock: this.clock,
    random: () => 0.5,
    log: silentLog,
  })

  /** The caller of the newest attempt; calls are answered by `answer`. */
  connect(
    answer: (shared: AbortSignal | undefined) => Promise<string> = () => Promise.resolve('{"reply":"pong"}'),
  ): void {
    const stopped = Promise.withResolvers<CtError>()
    this.stop = stopped.resolve
    this.attempts.at(-1)?.resolve({
      call: async (method, _, { shared } = {}) => {
        if (method === 'tools/list' && this.tools === undefined) await new Promise<never>(() => {})
        const text = method === 'tools/list' ? JSON.stringify({ tools: this.tools }) : await answer(shared)
        return { text: `{"jsonrpc":"2.0","id":1,"result":${text}}`, result: JSON.parse(text) as JsonValue }
      },
      stopped: stopped.promise,
      isStopped: () => false,
      close: () => stopped.resolve(new CtError('ERR_LINK_CLOSED', 'closed')),
      finish: () => Promise.resolve(),
    })
  }

  call(): Promise<JsonValue> {
    return this.peer.call('ping', {
      peer: '00' as HolderId,
      callId: 'x',
      progress: () => {},
      signal: new AbortController().signal,
      argumentsText: '{"n":9007199254740993}',
    })
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

describe('a peer behind a host', () => {
  it('is connected to when it is needed, and once', async () => {
    const scene = new Scene()
    expect(scene.attempts).toHaveLength(0)
    const [one, other] = [scene.peer.prepare(), scene.peer.prepare()]
    scene.connect()
    await Promise.all([one, other])
    expect(scene.attempts).toHaveLength(1)
    expect(scene.peer.tools).toMatchObject([{ name: 'ping' }])
    expect(await scene.call()).toEqual({ reply: 'pong' })
  })

  it('keeps nobody waiting longer than one attempt, says why it is away, and is tried again', async () => {
    const scene = new Scene()
    const ready = scene.peer.prepare()
    scene.attempts[0]?.reject(UNREACHABLE)
    await ready
    await expect(scene.call()).rejects.toMatchObject({ code: 'ERR_PEER_UNREACHABLE', message: /^bob is not there/ })
    await settled()
    scene.clock.advance(30_000)
    await settled()
    expect(scene.attempts).toHaveLength(2)
    scene.connect()
    await settled()
    expect(scene.changes).toEqual([1])
    expect(await scene.call()).toEqual({ reply: 'pong' })
  })

  it('lets calls that are under way wait for ten seconds while it is away', async () => {
    const scene = new Scene()
    const ready = scene.peer.prepare()
    scene.connect(
      (shared) => new Promise((_, reject) => shared?.addEventListener('abort', () => reject(shared.reason as Error))),
    )
    await ready
    const waiting = scene.call()
    scene.onTrouble(UNREACHABLE)
    await expect(scene.call()).rejects.toMatchObject({ code: 'ERR_PEER_UNREACHABLE' })
    scene.clock.advance(10_000)
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_PEER_UNREACHABLE', message: /it may have|may have run/ })
  })

  it('counts as away, and is tried again, when it does not list its tools within ten seconds', async () => {
    const scene = new Scene()
    const ready = scene.peer.prepare()
    scene.tools = undefined
    scene.connect()
    await settled()
    scene.clock.advance(9_999)
    await settled()
    expect(scene.peer.isListed).toBe(false)
    scene.clock.advance(1)
    await ready
    await expect(scene.call()).rejects.toMatchObject({ code: 'ERR_PEER_UNRESPONSIVE', message: /within 10 s/ })
    scene.clock.advance(30_000)
    await settled()
    expect(scene.attempts).toHaveLength(2)
    scene.tools = [PING]
    scene.connect()
    await settled()
    expect(scene.peer.isListed).toBe(true)
    expect(await scene.call()).toEqual({ reply: 'pong' })
  })

  it('keeps what it listed while a newer list does not come', async () => {
    const scene = new Scene()
    const ready = scene.peer.prepare()
    scene.connect()
    await ready
    scene.tools = undefined
    scene.onTrouble(undefined)
    await settled()
    scene.clock.advance(10_000)
    await settled()
    expect(scene.peer.tools).toMatchObject([{ name: 'ping' }])
    expect(await scene.call()).toEqual({ reply: 'pong' })
    expect(scene.clock.timers).toBe(0)
  })

  it('keeps nobody waiting that ends while its list has not come', async () => {
    const scene = new Scene()
    void scene.peer.prepare()
    scene.tools = undefined
    scene.connect()
    await settled()
    await scene.peer.close()
    expect(scene.clock.timers).toBe(0)
  })

  it('is asked anew what it serves when it is back', async () => {
    const scene = new Scene()
    const ready = scene.peer.prepare()
    scene.connect()
    await ready
    scene.onTrouble(UNREACHABLE)
    scene.tools = [PING, { ...PING, name: 'more' }]
    scene.onTrouble(undefined)
    await settled()
    expect(scene.changes).toEqual([1, 2])
  })

  it('has no tools any more, and is not tried again, once it refuses for good', async () => {
    const scene = new Scene()
    const ready = scene.peer.prepare()
    scene.connect()
    await ready
    scene.stop(REMOVED)
    await settled()
    scene.clock.advance(120_000)
    await settled()
    expect(scene.attempts).toHaveLength(1)
    expect(scene.changes).toEqual([1, 0])
    expect(scene.peer.isListed).toBe(false)
    await expect(scene.call()).rejects.toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
  })
})
