import { afterEach, describe, expect, it } from 'vitest'
import { type CallerOptions, openCaller } from '../../src/agent/calling/caller.ts'
import { diallingSource } from '../../src/agent/calling/link-source.ts'
import { type Session } from '../../src/channel/index.ts'
import { CtError } from '../../src/core/errors.ts'
import { systemClock } from '../../src/core/time.ts'
import { createCallLedger, createToolRegistry, serveMcp } from '../../src/mcp/index.ts'
import { showing, TRUST } from '../channel/brokered-members.ts'
import { closeAll, closing, member, serve } from '../channel/members.ts'
import { toolOf } from '../mcp/serve.ts'
import { silentLog } from '../silent-log.ts'
import { fakeIo } from './fake-io.ts'

afterEach(closeAll)

const EXPIRED = new CtError('ERR_GRANT_EXPIRED', 'the grant of this session expired')

/** A caller and the member that it calls, whose tool answers when the gate is open. */
async function pair(more: Partial<CallerOptions> = {}) {
  const gate = Promise.withResolvers<void>()
  let executed = 0
  const tool = toolOf('held', async () => {
    executed += 1
    await gate.promise
    return { output: 'done' }
  })
  const ledger = createCallLedger(systemClock)
  const sessions: Session[] = []
  const { address } = await serve({
    self: showing(member('serve')),
    trust: TRUST,
    maxSessions: 1,
    onSession: (session) => {
      sessions.push(session)
      serveMcp(session, {
        registry: createToolRegistry([tool]),
        ledger,
        log: silentLog,
        serverInfo: { name: 'test', version: '0' },
        randomId: () => 'id',
      })
    },
  })
  let shown = 0
  const self = showing(member('call'))
  const credentials = () => {
    shown += 1
    return self.credentials?.() ?? { grants: [], attestation: '' as never }
  }
  const caller = await openCaller(
    { io: fakeIo().io, clock: systemClock, random: () => 0, log: silentLog },
    {
      self: { ...self, credentials },
      connect: (whoever) => diallingSource(whoever, { addresses: [address], trust: TRUST }, systemClock),
      reconnect: true,
      timeoutMs: 10_000,
      label: 'test',
      ...more,
    },
    AbortSignal.timeout(10_000),
  )
  closing(() => caller.finish())
  return {
    caller,
    sessions,
    open: gate.resolve,
    executed: () => executed,
    shown: () => shown,
    call: () => caller.call('tools/call', { name: 'held' }).then(({ text }) => text),
  }
}

describe('a caller whose credentials were renewed', () => {
  it('shows the new ones on another link, and takes what is under way with it', async () => {
    const { caller, sessions, executed, shown, open, call } = await pair()
    const held = call()
    await expect.poll(executed).toBe(1)
    await caller.renewLink?.()
    expect([sessions.length, shown()]).toEqual([2, 2])
    expect((await sessions[0]?.closed)?.final).toBe(false)
    open()
    expect(await held).toContain('done')
    expect(executed()).toBe(1)
  })

  it('comes again when the old ones ended its session', async () => {
    const { sessions, open, call } = await pair({ mayRetry: ({ code }) => code === 'ERR_GRANT_EXPIRED' })
    sessions[0]?.end(EXPIRED)
    open()
    // One that is sent while the goodbye is under way may have run.
    await call()
    expect(await call()).toContain('done')
    expect(sessions).toHaveLength(2)
  })

  it('is at its end when there are no new ones', async () => {
    const { sessions, call, caller } = await pair({ mayRetry: () => false })
    sessions[0]?.end(EXPIRED)
    expect((await caller.stopped).code).toBe('ERR_GRANT_EXPIRED')
    await expect(call()).rejects.toMatchObject({ code: 'ERR_GRANT_EXPIRED' })
  })
})
