import { describe, expect, it } from 'vitest'
import { CtError } from '../../src/core/errors.ts'
import { type InstanceId } from '../../src/core/ids.ts'
import { Backoff } from '../../src/core/time.ts'
import { createResumableCaller } from '../../src/mcp/calling/resumable-caller.ts'
import { createCallLedger } from '../../src/mcp/serving/call-ledger.ts'
import { resultOf } from '../../src/mcp/wire/answer.ts'
import { silentLog } from '../silent-log.ts'
import { FakeClock } from './fake-clock.ts'
import { settle } from './port-pair.ts'
import { deferred, type Served, serve, toolOf } from './serve.ts'

const RUN = 'ab'.repeat(16) as InstanceId
const MOVED = { reason: new CtError('ERR_LINK_CLOSED', 'moved'), final: false }

/** A caller with one link, and a tool that counts its executions and waits for the test. */
async function linked() {
  const clock = new FakeClock()
  const ledger = createCallLedger(clock)
  const gate = deferred<string>()
  let runs = 0
  const tool = toolOf('slow', () => {
    runs += 1
    return gate.promise
  })
  const links: Served[] = []
  const open = (): Served => {
    const served = serve({ tools: [tool], ledger, clock })
    links.push(served)
    return served
  }
  const caller = createResumableCaller({
    connect: () => Promise.resolve(open().pair.caller),
    instance: RUN,
    backoff: new Backoff({ baseMs: 200, capMs: 10_000, stableMs: 5_000 }, () => 1),
    clock,
    log: silentLog,
  })
  caller.start()
  await settle()
  return { clock, caller, links, open, runs: () => runs, finish: gate.resolve }
}

describe('a caller that moves to another link', () => {
  it('asks there again what has no answer, and the peer executes it once', async () => {
    const { caller, links, open, runs, finish } = await linked()
    const calls = [1, 2, 3].map(() => caller.call('tools/call', { name: 'slow' }))
    await settle()
    const better = open()
    expect(caller.move(better.pair.caller)).toBe(true)
    expect(better.pair.caller.sent.map(({ call }) => call)).toMatchObject(
      [1, 2, 3].map((sequence) => ({ instance: RUN, sequence, resent: true })),
    )
    links[0]?.pair.server.end(MOVED)
    links[0]?.pair.caller.end(MOVED)
    const later = caller.call('tools/call', { name: 'slow' })
    await settle()
    finish('done')
    expect((await Promise.all([...calls, later])).map(resultOf)).toEqual(Array(4).fill('done'))
    expect(runs()).toBe(4)
    expect(links).toHaveLength(2)
  })

  it('takes an answer that the older link brings first', async () => {
    const { caller, links, open, runs, finish } = await linked()
    const call = caller.call('tools/call', { name: 'slow' })
    await settle()
    const better = open()
    // What is asked there again never arrives.
    better.pair.caller.frozen = true
    caller.move(better.pair.caller)
    finish('done')
    expect(resultOf(await call)).toBe('done')
    expect([runs(), links.length]).toEqual([1, 2])
  })

  it('does not believe a refusal of the older link, where the call may run on the newer one', async () => {
    const { caller, links, open, finish } = await linked()
    const call = caller.call('tools/call', { name: 'slow' })
    await settle()
    caller.move(open().pair.caller)
    const refusal = '{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"at most 1 request may be in flight"}}'
    links[0]?.pair.caller.deliver(Buffer.from(refusal))
    await settle()
    finish('done')
    expect(resultOf(await call)).toBe('done')
  })

  it('stays where it is when the older link breaks later, and reconnects when the newer one does', async () => {
    const { clock, caller, links, open } = await linked()
    const better = open()
    caller.move(better.pair.caller)
    links[0]?.pair.cut()
    await settle()
    clock.advance(60_000)
    await settle()
    expect(links).toHaveLength(2)
    better.pair.cut()
    await settle()
    const call = caller.call('ping')
    clock.advance(1_000)
    await settle()
    expect(resultOf(await call)).toEqual({})
    expect(links).toHaveLength(3)
  })

  it('refuses to move from no link, and when it has stopped', async () => {
    const { caller, links, open } = await linked()
    links[0]?.pair.cut()
    await settle()
    expect(caller.move(open().pair.caller)).toBe(false)
    caller.close()
    expect(caller.move(open().pair.caller)).toBe(false)
  })
})
