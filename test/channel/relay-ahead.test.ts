import { type Connection } from '@libp2p/interface'
import { describe, expect, it } from 'vitest'
import { RelayAhead } from '../../src/channel/dialling/relay-ahead.ts'

function fakeConnection() {
  const ends: Error[] = []
  return { ends, connection: { abort: (error: Error) => void ends.push(error) } as unknown as Connection }
}

describe('a connection that is made ahead', () => {
  it('is there for whoever takes it first, and then stays', async () => {
    const { connection, ends } = fakeConnection()
    const ahead = new RelayAhead()
    ahead.start(() => Promise.resolve(connection))
    const { signal } = new AbortController()
    expect(await ahead.take(signal)).toBe(connection)
    expect(await ahead.take(signal)).toBeUndefined()
    ahead.end()
    expect(ends).toEqual([])
  })

  it('is put away when nobody takes it, also when it comes late', async () => {
    const { connection, ends } = fakeConnection()
    const ahead = new RelayAhead()
    const made = Promise.withResolvers<Connection>()
    let dial: AbortSignal | undefined
    ahead.start((signal) => {
      dial = signal
      return made.promise
    })
    ahead.end()
    expect(dial?.aborted).toBe(true)
    made.resolve(connection)
    await expect.poll(() => ends.length).toBe(1)
  })

  it('hurts nobody when it fails', async () => {
    const ahead = new RelayAhead()
    ahead.start(() => Promise.reject(new Error('no place at the relay')))
    expect(await ahead.take(new AbortController().signal)).toBeUndefined()
  })

  it('is given up by whoever took it and does not want it any more', () => {
    const ahead = new RelayAhead()
    let dial: AbortSignal | undefined
    ahead.start((signal) => {
      dial = signal
      return new Promise(() => {})
    })
    const wanted = new AbortController()
    void ahead.take(wanted.signal)
    wanted.abort()
    expect(dial?.aborted).toBe(true)
  })
})
