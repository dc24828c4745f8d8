import { describe, expect, it } from 'vitest'
import { CANCEL_GRACE_MS, Worker } from '../../../src/mcp/services/worker.ts'
import { FakeClock } from '../fake-clock.ts'
import { holder } from './serve-handler.ts'

/** A worker of two places whose process is this test. */
function start() {
  const clock = new FakeClock()
  const written: unknown[] = []
  const seen = { freed: 0, garbage: [] as string[], killed: 0 }
  const port = {
    ended: new Promise<string>(() => {}),
    write: (line: string) => void written.push(JSON.parse(line)),
    stop: () => {},
    kill: () => {
      seen.killed += 1
    },
  }
  const bounds = { clock, timeoutSeconds: 10, places: 2, maxLineBytes: 100 }
  const worker = new Worker(port, bounds, {
    freed: () => {
      seen.freed += 1
    },
    garbage: (shown) => seen.garbage.push(shown),
  })
  const call = (caller = new AbortController()) => {
    const heard: unknown[] = []
    const outcome = worker.call({
      ...{ service: 'echo', callId: 'c', peer: holder('ab'), reference: 'r' },
      input: { bytes: new Uint8Array(), json: () => '"x"' },
      signal: caller.signal,
      progress: (progress) => heard.push(progress),
    })
    return { outcome, heard, cancel: () => caller.abort() }
  }
  const say = (message: unknown): void =>
    worker.takeLine(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)))
  return { clock, written, seen, worker, call, say }
}

const stopped = { kind: 'failed', failure: expect.objectContaining({ kind: 'stopped' }) }

describe('Worker', () => {
  it('is asked with an id of each call, and takes answers in any order', async () => {
    const { call, say, written, worker, seen } = start()
    const [first, second] = [call(), call()]
    expect(worker.room).toBe(0)
    expect(written).toMatchObject([{ id: 1, service: 'echo', call: 'c', peer: 'ab'.repeat(32), input: 'x' }, { id: 2 }])
    say({ id: 2, output: 12 })
    say('{"id":1,"output":12345678901234567890}')
    expect(await first.outcome).toMatchObject({ kind: 'output', json: '12345678901234567890' })
    expect(await second.outcome).toMatchObject({ kind: 'output', json: '12' })
    expect([worker.room, seen.freed]).toEqual([2, 2])
  })

  it('says a call off when its time is over, and waits for the worker to let go of it', async () => {
    const { call, say, clock, written, worker, seen } = start()
    const { outcome, heard } = call()
    clock.advance(10_000)
    expect(written.at(-1)).toEqual({ cancel: 1 })
    expect(worker.room).toBe(1)
    say({ id: 1, progress: { progress: 1 } })
    say({ id: 1, output: 'late' })
    expect(await outcome).toMatchObject({ kind: 'failed', failure: { kind: 'timeout' } })
    expect([heard, worker.room, seen.killed, clock.timers]).toEqual([[], 2, 0, 0])
  })

  it('is ended when it does not let go of a call and has no other', async () => {
    const { call, clock, seen, worker } = start()
    const { outcome, cancel } = call()
    cancel()
    clock.advance(CANCEL_GRACE_MS - 1)
    expect(seen.killed).toBe(0)
    clock.advance(1)
    expect(await outcome).toEqual(stopped)
    expect([seen.killed, worker.room]).toEqual([1, 0])
  })

  it('is not ended while it has a call that somebody wants, and gets no new one', async () => {
    const { call, say, clock, seen, worker } = start()
    const [hanging, wanted] = [call(), call()]
    hanging.cancel()
    clock.advance(CANCEL_GRACE_MS)
    expect(await hanging.outcome).toEqual(stopped)
    expect([seen.killed, worker.room]).toEqual([0, 0])
    say({ id: 2, output: 'good' })
    expect(await wanted.outcome).toMatchObject({ kind: 'output' })
    expect(seen.killed).toBe(1)
  })

  it('is taken back when it lets go after all', async () => {
    const { call, say, clock, seen, worker } = start()
    const hanging = call()
    call()
    hanging.cancel()
    clock.advance(CANCEL_GRACE_MS)
    say({ id: 1, error: { message: 'cancelled' } })
    expect([worker.room, seen.killed, seen.freed]).toEqual([1, 0, 1])
    await hanging.outcome
  })

  it('that ends fails every call that it has, each once', async () => {
    const { call, worker, clock } = start()
    const [one, two] = [call(), call()]
    two.cancel()
    worker.end({ kind: 'worker-ended', what: 'ended' })
    expect(await one.outcome).toMatchObject({ failure: { kind: 'worker-ended' } })
    expect(await two.outcome).toEqual(stopped)
    expect([worker.room, clock.timers]).toEqual([0, 0])
  })

  for (const garbage of [
    '',
    'words',
    '[]',
    '{"id":1}',
    '{"id":"1","output":1}',
    '{"id":0,"output":1}',
    '{"id":7,"output":1}',
  ]) {
    it(`takes ${garbage === '' ? 'nothing' : garbage} for no answer`, () => {
      const { call, say, worker, seen } = start()
      call()
      for (let count = 0; count < 3; count += 1) say(garbage)
      expect([worker.room, seen.garbage]).toEqual([1, garbage === '' ? [] : [garbage]])
    })
  }

  it('has the words of a failure cut and made fit to show', async () => {
    const { call, say } = start()
    const { outcome } = call()
    say({ id: 1, error: { message: `a\u001b[31m${'x'.repeat(5_000)}` } })
    const answer = await outcome
    expect(answer).toMatchObject({ kind: 'error', message: expect.stringMatching(/^a \[31mx+…$/) })
    expect(JSON.stringify(answer).length).toBeLessThan(1_100)
  })
})
