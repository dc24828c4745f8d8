import { describe, expect, it } from 'vitest'
import { race } from '../../src/channel/dialling/race.ts'
import { CtError } from '../../src/core/errors.ts'
import { FakeClock } from '../mcp/fake-clock.ts'

/** An attempt that the test decides. */
function held(afterMs: number) {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const state: { signal?: AbortSignal } = {}
  return {
    afterMs,
    resolve,
    reject,
    state,
    run: (signal: AbortSignal) => {
      state.signal = signal
      return promise
    },
  }
}

function start(attempts: readonly ReturnType<typeof held>[], signal = new AbortController().signal) {
  const clock = new FakeClock()
  const discarded: string[] = []
  const outcome = race(attempts, { clock, signal, discard: (value) => discarded.push(value) })
  return { clock, discarded, outcome, started: () => attempts.map(({ state }) => state.signal !== undefined) }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const failure = (message: string) => new CtError('ERR_PEER_UNREACHABLE', message)

describe('race', () => {
  it('starts each attempt when its time has come, and takes the first value', async () => {
    const [one, two] = [held(0), held(250)]
    const { clock, outcome, started, discarded } = start([one, two])
    expect(started()).toEqual([true, false])
    clock.advance(249)
    expect(started()).toEqual([true, false])
    clock.advance(1)
    expect(started()).toEqual([true, true])
    two.resolve('two')
    expect(await outcome).toEqual({ value: 'two' })
    expect(one.state.signal?.aborted).toBe(true)
    one.resolve('one')
    await settled()
    expect(discarded).toEqual(['one'])
    expect(clock.timers).toBe(0)
  })

  it('starts the next as soon as all before it have failed', async () => {
    const [one, two, three] = [held(0), held(250), held(500)]
    const { clock, started, outcome } = start([one, two, three])
    one.reject(failure('one'))
    await settled()
    expect(started()).toEqual([true, true, false])
    clock.advance(500)
    expect(started()).toEqual([true, true, true])
    three.reject(failure('three'))
    two.reject(failure('two'))
    const found = await outcome
    expect('failures' in found && found.failures.map(({ message }) => message)).toEqual(['one', 'two', 'three'])
    expect(clock.timers).toBe(0)
  })

  it('has no value without attempts', async () => {
    expect(await start([]).outcome).toEqual({ failures: [] })
  })

  it('rejects with the signal’s reason, and discards what comes all the same', async () => {
    const controller = new AbortController()
    const [one, two] = [held(0), held(250)]
    const { clock, outcome, discarded } = start([one, two], controller.signal)
    controller.abort(failure('enough'))
    await expect(outcome).rejects.toMatchObject({ message: 'enough' })
    expect(one.state.signal?.aborted).toBe(true)
    one.resolve('one')
    await settled()
    expect(discarded).toEqual(['one'])
    expect(clock.timers).toBe(0)
  })

  it('starts nothing after the signal', async () => {
    const one = held(0)
    const { outcome, started } = start([one], AbortSignal.abort(failure('before')))
    await expect(outcome).rejects.toMatchObject({ message: 'before' })
    expect(started()).toEqual([false])
  })
})
