import { describe, expect, it } from 'vitest'
import { CtError, type ErrorCode } from '../../src/core/errors.ts'
import { type InstanceId } from '../../src/core/ids.ts'
import { Backoff } from '../../src/core/time.ts'
import {
  createResumableCaller,
  type ResumableCaller,
  type ResumableCallerOptions,
} from '../../src/mcp/calling/resumable-caller.ts'
import { createCallLedger, MAX_UNACKNOWLEDGED_CALLS } from '../../src/mcp/serving/call-ledger.ts'
import { pingTool, type Tool } from '../../src/mcp/tool.ts'
import { type Answer, resultOf } from '../../src/mcp/wire/answer.ts'
import { silentLog } from '../silent-log.ts'
import { FakeClock } from './fake-clock.ts'
import { type PortPair, settle } from './port-pair.ts'
import { deferred, type Served, serve, toolOf } from './serve.ts'

const RUN = 'ab'.repeat(16) as InstanceId
const BACKOFF_MS = 200

interface World {
  readonly caller: ResumableCaller
  readonly clock: FakeClock
  /** Links in the order they were opened. */
  readonly links: Served[]
  readonly current: () => PortPair
  /** Errors that the next attempts to connect end with. */
  readonly refusals: CtError[]
  /** Makes the serving side forget everything, as a restart does. */
  readonly restart: () => void
  readonly signal: () => AbortSignal | undefined
}

function world(tools: readonly Tool[] = [pingTool], limits: ResumableCallerOptions['limits'] = {}): World {
  const clock = new FakeClock()
  let ledger = createCallLedger(clock)
  const links: Served[] = []
  const refusals: CtError[] = []
  let lifetime: AbortSignal | undefined
  const caller = createResumableCaller({
    connect: async (signal) => {
      lifetime = signal
      const refusal = refusals.shift()
      if (refusal !== undefined) throw refusal
      const served = serve({ tools, ledger, clock })
      links.push(served)
      return served.pair.caller
    },
    instance: RUN,
    backoff: new Backoff({ baseMs: BACKOFF_MS, capMs: 10_000, stableMs: 5_000 }, () => 1),
    clock,
    log: silentLog,
    limits,
  })
  return {
    caller,
    clock,
    links,
    current: () => {
      const last = links.at(-1)
      if (last === undefined) throw new Error('no link yet')
      return last.pair
    },
    refusals,
    restart: () => {
      ledger.close()
      ledger = createCallLedger(clock)
    },
    signal: () => lifetime,
  }
}

async function codeOf(promise: Promise<Answer>): Promise<ErrorCode | 'answered'> {
  return promise.then(
    (answer) => ('error' in answer ? answer.error.code : 'answered'),
    (error: CtError) => error.code,
  )
}

/** A tool that counts its executions and waits for the test. */
function slowTool(): { readonly tool: Tool; readonly runs: () => number; readonly finish: (value: string) => void } {
  const gate = deferred<string>()
  let runs = 0
  const tool = toolOf('slow', () => {
    runs += 1
    return gate.promise
  })
  return { tool, runs: () => runs, finish: gate.resolve }
}

describe('createResumableCaller', () => {
  it('connects at the first call and numbers its calls', async () => {
    const { caller, links, current } = world()
    expect(links).toHaveLength(0)
    const answers = await Promise.all([caller.call('tools/call', { name: 'ping' }), caller.call('tools/list')])
    expect(answers.map(resultOf)).toMatchObject([{ reply: 'pong' }, { tools: [{ name: 'ping' }] }])
    await caller.call('ping')
    expect(current().caller.sent.map(({ call }) => call)).toEqual([
      { instance: RUN, sequence: 1, acknowledgedBelow: 1, resent: false },
      { instance: RUN, sequence: 2, acknowledgedBelow: 1, resent: false },
      { instance: RUN, sequence: 3, acknowledgedBelow: 3, resent: false },
    ])
    expect(links).toHaveLength(1)
  })

  it('connects at once when told to', async () => {
    const { caller, links } = world()
    caller.start()
    caller.start()
    await settle()
    expect(links).toHaveLength(1)
  })

  it('gets the answer of a call that ran across a break, executed once', async () => {
    const { tool, runs, finish } = slowTool()
    const { caller, clock, links, current } = world([tool])
    const asked = caller.call('tools/call', { name: 'slow' })
    await settle()
    current().cut()
    await settle()
    clock.advance(BACKOFF_MS)
    await settle()
    expect(links).toHaveLength(2)
    expect(current().caller.sent).toMatchObject([{ call: { sequence: 1, resent: true } }])
    finish('done')
    expect(resultOf(await asked)).toBe('done')
    expect(runs()).toBe(1)
  })

  it('gets an answer that was lost on its way', async () => {
    const { tool, runs, finish } = slowTool()
    const { caller, clock, current } = world([tool])
    const asked = caller.call('tools/call', { name: 'slow' })
    await settle()
    current().server.frozen = true
    finish('done')
    await settle()
    current().cut()
    await settle()
    clock.advance(BACKOFF_MS)
    expect(resultOf(await asked)).toBe('done')
    expect(runs()).toBe(1)
  })

  it('says that the outcome is unknown when the serving side restarted, and repeats what is harmless', async () => {
    const { tool } = slowTool()
    const gate = deferred<string>()
    const look = toolOf('look', () => gate.promise, { idempotent: true })
    const { caller, clock, current, restart } = world([tool, look])
    const slow = codeOf(caller.call('tools/call', { name: 'slow' }))
    const harmless = caller.call('tools/call', { name: 'look' })
    await settle()
    current().cut()
    restart()
    gate.resolve('seen')
    await settle()
    clock.advance(BACKOFF_MS)
    expect(await slow).toBe('ERR_CALL_OUTCOME_UNKNOWN')
    expect(resultOf(await harmless)).toBe('seen')
  })

  it('sends calls that a peer refused because it was shutting down anew, under new numbers', async () => {
    const { caller, clock, links, current, restart } = world()
    await caller.call('ping')
    for (const { link } of links) void link.drain()
    const asked = caller.call('tools/call', { name: 'ping' })
    const queued = caller.call('tools/call', { name: 'ping' })
    await settle()
    current().leave()
    restart()
    await settle()
    clock.advance(BACKOFF_MS)
    expect((await Promise.all([asked, queued])).map(resultOf)).toEqual([{ reply: 'pong' }, { reply: 'pong' }])
    expect(current().caller.sent.map(({ call }) => call)).toMatchObject([
      { sequence: 4, resent: false },
      { sequence: 5, resent: false },
    ])
  })

  it('tries again with growing delays as long as that may help', async () => {
    const { caller, clock, links, refusals } = world()
    for (let attempt = 0; attempt < 3; attempt += 1) refusals.push(new CtError('ERR_PEER_UNREACHABLE', 'x'))
    const asked = caller.call('ping')
    for (const delayMs of [BACKOFF_MS, 2 * BACKOFF_MS, 4 * BACKOFF_MS]) {
      await settle()
      clock.advance(delayMs - 1)
      await settle()
      expect(links).toHaveLength(0)
      clock.advance(1)
    }
    expect(resultOf(await asked)).toEqual({})
    expect(links).toHaveLength(1)
  })

  it('stops at a refusal that will not change by itself', async () => {
    const { caller, refusals } = world()
    refusals.push(new CtError('ERR_PEER_REFUSED', 'not trusted'))
    const codes = await Promise.all([codeOf(caller.call('ping')), codeOf(caller.call('tools/call', { name: 'ping' }))])
    expect(codes).toEqual(['ERR_PEER_REFUSED', 'ERR_PEER_REFUSED'])
    expect(await codeOf(caller.call('ping'))).toBe('ERR_PEER_REFUSED')
    expect((await caller.stopped).code).toBe('ERR_PEER_REFUSED')
  })

  it('does not report a call as refused that had been sent', async () => {
    const { caller, current } = world([slowTool().tool])
    const asked = codeOf(caller.call('tools/call', { name: 'slow' }))
    await settle()
    current().caller.end({ reason: new CtError('ERR_PEER_REFUSED', 'grant expired'), final: true })
    expect(await asked).toBe('ERR_CALL_OUTCOME_UNKNOWN')
    expect((await caller.stopped).code).toBe('ERR_PEER_REFUSED')
  })

  it('stops at a defect instead of trying for ever', async () => {
    const { caller, refusals } = world()
    refusals.push(new TypeError('a defect is no error of ours') as unknown as CtError)
    expect(await codeOf(caller.call('ping'))).toBe('ERR_INTERNAL')
  })

  it('does not reconnect while nothing is asked for, and does for the next call', async () => {
    const { caller, clock, links, current } = world()
    await caller.call('ping')
    current().cut()
    await settle()
    clock.advance(60_000)
    await settle()
    expect(links).toHaveLength(1)
    expect(resultOf(await caller.call('ping'))).toEqual({})
    expect(links).toHaveLength(2)
  })

  it('gives up a call after its time, link or no link, and tells the peer', async () => {
    const { caller, clock, current } = world([slowTool().tool])
    const asked = codeOf(caller.call('tools/call', { name: 'slow' }, { timeoutMs: 1_000 }))
    await settle()
    clock.advance(1_000)
    expect(await asked).toBe('ERR_CALL_TIMEOUT')
    await settle()
    expect(current().caller.texts.at(-1)).toContain('notifications/cancelled')
    current().cut()
    await settle()
    const offline = codeOf(caller.call('tools/call', { name: 'slow' }, { timeoutMs: 50 }))
    clock.advance(50)
    expect(await offline).toBe('ERR_TIMEOUT')
    expect(caller.pending).toBe(0)
  })

  it('gives up a call when its signal aborts', async () => {
    const { caller } = world([slowTool().tool])
    const stop = new AbortController()
    const asked = codeOf(caller.call('tools/call', { name: 'slow' }, { signal: stop.signal }))
    await settle()
    stop.abort()
    expect(await asked).toBe('ERR_CALL_CANCELLED')
    expect(await codeOf(caller.call('ping', undefined, { signal: stop.signal }))).toBe('ERR_CALL_CANCELLED')
    expect(await codeOf(caller.call('ping', undefined, { shared: stop.signal }))).toBe('ERR_CALL_CANCELLED')
  })

  it('keeps to the number of calls in flight and sends the rest in order', async () => {
    const { tool, finish } = slowTool()
    const { caller, current } = world([tool], { maxInFlight: 2 })
    const asked = Array.from({ length: 5 }, () => caller.call('tools/call', { name: 'slow' }))
    await settle()
    expect(current().caller.sent).toHaveLength(2)
    finish('x')
    await Promise.all(asked)
    expect(current().caller.sent.map(({ call }) => call?.sequence)).toEqual([1, 2, 3, 4, 5])
  })

  it('waits rather than exceed what the peer keeps when one call holds back the acknowledgement', async () => {
    const { tool, finish } = slowTool()
    const { caller } = world([tool, pingTool], { maxPending: 2_000 })
    const slow = caller.call('tools/call', { name: 'slow' })
    const codes = Promise.all(
      Array.from({ length: MAX_UNACKNOWLEDGED_CALLS + 50 }, () => codeOf(caller.call('tools/call', { name: 'ping' }))),
    )
    await settle()
    expect(caller.pending).toBe(52)
    finish('x')
    await slow
    expect(new Set(await codes)).toEqual(new Set(['answered']))
  })

  it('refuses more pending calls than it holds', async () => {
    const { caller } = world([slowTool().tool], { maxPending: 1 })
    const first = codeOf(caller.call('tools/call', { name: 'slow' }))
    expect(await codeOf(caller.call('ping'))).toBe('ERR_PEER_BUSY')
    caller.close()
    expect(await first).toBe('ERR_CALL_OUTCOME_UNKNOWN')
  })

  it('ends the link and everything pending when it is closed', async () => {
    const { caller, clock, signal } = world([slowTool().tool])
    const asked = codeOf(caller.call('tools/list', undefined, { timeoutMs: 1_000 }))
    caller.close()
    expect(await asked).toBe('ERR_LINK_CLOSED')
    expect(signal()?.aborted).toBe(true)
    expect(await codeOf(caller.call('ping'))).toBe('ERR_LINK_CLOSED')
    expect(clock.timers).toBe(0)
  })
})
