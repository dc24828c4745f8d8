import { describe, expect, it } from 'vitest'
import { Arrivals } from '../../../src/channel/broker/arrivals.ts'

describe('arrivals over a connection', () => {
  it('are settled at once where nobody comes', async () => {
    const arrivals = new Arrivals()
    const [one, other] = [{}, {}]
    arrivals.began(one, {})
    await arrivals.settled(other)
  })

  it('are settled, for all who wait, when the last of them is over', async () => {
    const arrivals = new Arrivals()
    const connection = {}
    const [first, second] = [{}, {}]
    for (const stream of [first, second]) arrivals.began(connection, stream)
    const settled: string[] = []
    const waiting = ['one', 'two'].map((who) => arrivals.settled(connection).then(() => settled.push(who)))
    arrivals.over(connection, first)
    arrivals.over(connection, first)
    await Promise.resolve()
    expect(settled).toEqual([])
    arrivals.over(connection, second)
    await Promise.all(waiting)
    expect(settled).toEqual(['one', 'two'])
    await arrivals.settled(connection)
  })
})
