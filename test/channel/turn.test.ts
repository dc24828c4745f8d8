import { describe, expect, it } from 'vitest'
import { Turn } from '../../src/channel/dialling/turn.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { settle } from '../mcp/port-pair.ts'

function waiting() {
  const clock = new FakeClock()
  const turn = new Turn(clock)
  const begun: string[] = []
  const never = new AbortController()
  const take = (name: string, signal = never.signal) => {
    const work = Promise.withResolvers<string>()
    const taken = turn.take(() => {
      begun.push(name)
      return work.promise
    }, signal)
    taken.catch(() => {})
    return { taken, work }
  }
  return { clock, begun, take }
}

describe('Turn', () => {
  it('lets the second greet when the first has said nothing for a while', async () => {
    const { clock, begun, take } = waiting()
    take('first')
    take('second')
    clock.advance(499)
    await settle()
    expect(begun).toEqual(['first'])
    clock.advance(1)
    await settle()
    expect(begun).toEqual(['first', 'second'])
  })

  it('lets the second greet at once when the first fails', async () => {
    const { begun, take } = waiting()
    const { work, taken } = take('first')
    take('second')
    work.reject(new Error('no'))
    await expect(taken).rejects.toThrow('no')
    await settle()
    expect(begun).toEqual(['first', 'second'])
  })

  it('lets nobody greet who is not wanted any more', async () => {
    const { clock, begun, take } = waiting()
    const stop = new AbortController()
    take('first')
    const { taken } = take('second', stop.signal)
    stop.abort(new Error('another way was faster'))
    await expect(taken).rejects.toThrow('another way was faster')
    clock.advance(10_000)
    await settle()
    expect(begun).toEqual(['first'])
    expect(clock.timers).toBe(0)
  })
})
