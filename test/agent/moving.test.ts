import { afterEach, describe, expect, it } from 'vitest'
import { type Caller, openCaller } from '../../src/agent/calling/caller.ts'
import { diallingSource } from '../../src/agent/calling/link-source.ts'
import { type BrokerOptions, type Session } from '../../src/channel/index.ts'
import { systemClock } from '../../src/core/time.ts'
import { createCallLedger, createToolRegistry, serveMcp } from '../../src/mcp/index.ts'
import { CHANNEL, OPERATOR, startBroker } from '../channel/broker/raw-member.ts'
import { LOOPBACK, placesOf, showing, startPath, TRUST } from '../channel/brokered-members.ts'
import { closeAll, closing, member, serve } from '../channel/members.ts'
import { toolOf } from '../mcp/serve.ts'
import { silentLog } from '../silent-log.ts'
import { fakeIo } from './fake-io.ts'

afterEach(closeAll)

/** A member with one place that nobody can dial at first, a caller of it, and the path that leads to it once it opens. */
async function relayedPair() {
  const broker = await startBroker()
  const path = await startPath()
  path.block(true)
  const states: BrokerOptions['onState'] extends (state: infer State) => void ? State[] : never = []
  const options = (more: Partial<BrokerOptions>): BrokerOptions => ({
    broker: placesOf(broker),
    relay: [],
    operator: OPERATOR.id,
    channel: CHANNEL,
    relayOnly: false,
    random: Math.random,
    onState: (state) => states.push(state),
    ...more,
  })
  const executed = new Map<string, number>()
  const gate = Promise.withResolvers<void>()
  const tool = toolOf('count', async (args) => {
    const { n } = args as { n: string }
    executed.set(n, (executed.get(n) ?? 0) + 1)
    if (n.startsWith('held')) await gate.promise
    return { output: n }
  })
  const registry = createToolRegistry([tool])
  const ledger = createCallLedger(systemClock)
  const sessions: Session[] = []
  const acceptor = await serve({
    self: showing(member('serve', { inFlight: 256 })),
    trust: TRUST,
    listen: LOOPBACK,
    maxSessions: 1,
    maxPeerSessions: 1,
    // Said to the caller alone, in the talk over the relay.
    broker: options({ relayOnly: true, punches: true, advertise: [path.address] }),
    onSession: (session) => {
      sessions.push(session)
      serveMcp(session, {
        registry,
        ledger,
        log: silentLog,
        serverInfo: { name: 'test', version: '0' },
        randomId: () => 'id',
        limits: { maxInFlight: 256 },
      })
    },
  })
  path.lead(acceptor.address)
  await expect.poll(() => states.some(({ kind }) => kind === 'reserved')).toBe(true)
  const { io } = fakeIo()
  const caller = await openCaller(
    { io, clock: systemClock, random: Math.random, log: silentLog },
    {
      self: showing(member('call')),
      connect: (self) => diallingSource(self, { addresses: [], trust: TRUST }, systemClock, options({ punches: true })),
      reconnect: true,
      timeoutMs: 30_000,
      label: 'test',
    },
    AbortSignal.timeout(10_000),
  )
  closing(() => caller.finish())
  return { path, caller, sessions, executed, open: gate.resolve }
}

function count(caller: Caller, n: string): Promise<string> {
  return caller.call('tools/call', { name: 'count', arguments: { n } }).then(({ text }) => text)
}

describe('a caller that reached its peer through the relay', () => {
  it('goes on directly when it can, and loses and doubles none of 500 calls', async () => {
    const { path, caller, sessions, executed, open } = await relayedPair()
    const names = Array.from({ length: 500 }, (_, index) => `${index % 2 === 0 ? 'held' : 'quick'} ${index}`)
    const calls = names.map((n) => count(caller, n))
    path.block(false)
    await expect.poll(() => sessions.length, { timeout: 10_000 }).toBe(2)
    const [relayed, direct] = sessions
    expect(relayed?.vitals.way?.kind).toBe('relay')
    expect(direct?.vitals.way?.kind).not.toBe('relay')
    expect((await relayed?.closed)?.final).toBe(false)
    open()
    const answers = await Promise.all(calls)
    expect(answers.filter((text, index) => text.includes(JSON.stringify(names[index])))).toHaveLength(500)
    expect([...executed.values()].filter((times) => times === 1)).toHaveLength(500)
    expect(sessions).toHaveLength(2)
  })

  it.each(['is gone', 'falls silent'])('is answered over the relay soon when the direct path %s', async (how) => {
    const { path, caller, sessions, executed, open } = await relayedPair()
    path.block(false)
    await expect.poll(() => sessions.length, { timeout: 10_000 }).toBe(2)
    await expect.poll(() => sessions[0]?.closed.then(() => true)).toBe(true)
    const held = count(caller, 'held')
    await expect.poll(() => executed.get('held')).toBe(1)
    if (how === 'is gone') path.block(true)
    else path.stall()
    const since = performance.now()
    expect(await count(caller, 'next')).toContain('next')
    expect(performance.now() - since).toBeLessThan(how === 'is gone' ? 1_000 : 2_000)
    open()
    expect(await held).toContain('held')
    expect([...executed.values()]).toEqual([1, 1])
    expect(sessions[2]?.vitals.way?.kind).toBe('relay')
  })
})
