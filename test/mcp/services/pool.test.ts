import { describe, expect, it } from 'vitest'
import { CtError } from '../../../src/core/errors.ts'
import { FairPool, type PoolLimits } from '../../../src/mcp/services/pool.ts'

interface Job {
  readonly name: string
  readonly finish: () => void
}

/** A pool whose tasks note that they started and end when they are told. */
function observe(limits: PoolLimits) {
  const pool = new FairPool(limits)
  const started: Job[] = []
  const run = (peer: string, name: string, signal = new AbortController().signal) => {
    const result = pool.run(peer, signal, async () => {
      const { promise, resolve } = Promise.withResolvers<string>()
      started.push({ name, finish: () => resolve(name) })
      return promise
    })
    result.catch(() => {})
    return result
  }
  /** Ends the tasks one after the other in the order they started; the names in that order. */
  const playOut = async (): Promise<readonly string[]> => {
    const names: string[] = []
    for (let job = started.shift(); job !== undefined; job = started.shift()) {
      names.push(job.name)
      job.finish()
      await new Promise(setImmediate)
    }
    return names
  }
  return { pool, run, started, playOut }
}

const busy = { code: 'ERR_PEER_BUSY' }

describe('FairPool', () => {
  it('runs no more at once than its limit, and keeps the order of one peer', async () => {
    const { pool, run, started, playOut } = observe({ running: 2, waiting: 8 })
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run('a', name)
    expect(started).toHaveLength(2)
    expect(await playOut()).toEqual(['a1', 'a2', 'a3', 'a4'])
    await pool.idle()
  })

  it('lets peers take turns, however much one of them has waiting', async () => {
    const { run, playOut } = observe({ running: 1, waiting: 16 })
    for (const name of ['a1', 'a2', 'a3', 'a4']) void run('a', name)
    for (const name of ['b1', 'b2']) void run('b', name)
    void run('c', 'c1')
    expect(await playOut()).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
  })

  it('gives a peer its share of a full queue at the expense of the one with most in it', async () => {
    const { run, playOut } = observe({ running: 1, waiting: 4 })
    const greedy = ['a1', 'a2', 'a3', 'a4', 'a5'].map((name) => run('a', name))
    await expect(run('a', 'a6')).rejects.toMatchObject(busy)
    void run('b', 'b1')
    await expect(greedy[4]).rejects.toMatchObject(busy)
    void run('b', 'b2')
    await expect(greedy[3]).rejects.toMatchObject(busy)
    await expect(run('b', 'b3')).rejects.toMatchObject(busy)
    expect(await playOut()).toEqual(['a1', 'a2', 'b1', 'a3', 'b2'])
  })

  it('refuses at once what finds no place when nothing may wait', async () => {
    const { run, playOut } = observe({ running: 1, waiting: 0 })
    void run('a', 'a1')
    await expect(run('b', 'b1')).rejects.toMatchObject(busy)
    expect(await playOut()).toEqual(['a1'])
  })

  it('forgets a call that is cancelled while it waits', async () => {
    const { run, playOut } = observe({ running: 1, waiting: 8 })
    const caller = new AbortController()
    void run('a', 'a1')
    const cancelled = run('b', 'b1', caller.signal)
    void run('a', 'a2')
    caller.abort()
    await expect(cancelled).rejects.toMatchObject({ code: 'ERR_CALL_CANCELLED' })
    expect(await playOut()).toEqual(['a1', 'a2'])
    await expect(run('a', 'a3', caller.signal)).rejects.toMatchObject({
      code: 'ERR_CALL_CANCELLED',
    })
  })

  it('passes on the place of a call that is cancelled just as it gets it', async () => {
    const { pool, run, playOut } = observe({ running: 1, waiting: 8 })
    const caller = new AbortController()
    const { signal } = caller
    const stopListening = signal.removeEventListener.bind(signal)
    signal.removeEventListener = (...given: Parameters<typeof stopListening>) => {
      stopListening(...given)
      caller.abort()
    }
    void run('a', 'a1')
    const cancelled = run('a', 'a2', signal)
    void run('a', 'a3')
    expect(await playOut()).toEqual(['a1', 'a3'])
    await expect(cancelled).rejects.toMatchObject({ code: 'ERR_CALL_CANCELLED' })
    await pool.idle()
  })

  it('frees the place of a task that fails', async () => {
    const { pool, run, started } = observe({ running: 1, waiting: 8 })
    const failure = new CtError('ERR_TOOL_FAILED', 'failed')
    const { signal } = new AbortController()
    await expect(pool.run('a', signal, () => Promise.reject(failure))).rejects.toBe(failure)
    void run('a', 'a1')
    expect(started).toHaveLength(1)
  })

  it('refuses all but what runs once it is closed, and is idle when that has ended', async () => {
    const { pool, run, playOut } = observe({ running: 1, waiting: 8 })
    const reason = new CtError('ERR_PEER_SHUTDOWN', 'closing')
    const running = run('a', 'a1')
    const waiting = [run('a', 'a2'), run('b', 'b1')]
    pool.close(reason)
    const idle = pool.idle()
    for (const call of [...waiting, run('c', 'c1')]) await expect(call).rejects.toBe(reason)
    await playOut()
    await expect(running).resolves.toBe('a1')
    await idle
    await pool.idle()
  })
})
