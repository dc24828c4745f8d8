import { type Stream } from '@libp2p/interface'
import { beforeEach, describe, expect, it } from 'vitest'
import { carry } from '../../../src/channel/broker/carrying.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'

/** What carrying needs of a stream. */
class FakeStream extends EventTarget {
  readStatus = 'readable'
  writeStatus = 'writable'
  /** Bytes it takes before it is full. */
  room = Number.POSITIVE_INFINITY
  taken = 0
  closes = 0
  aborted: Error | undefined

  say(bytes: number): void {
    if (this.readStatus === 'readable')
      this.dispatchEvent(Object.assign(new Event('message'), { data: new Uint8Array(bytes) }))
  }

  send(data: Uint8Array): boolean {
    this.taken += data.byteLength
    return this.taken < this.room
  }

  drain(): void {
    this.room = Number.POSITIVE_INFINITY
    this.dispatchEvent(new Event('drain'))
  }

  pause(): void {
    this.readStatus = 'paused'
  }

  resume(): void {
    this.readStatus = 'readable'
  }

  async close(): Promise<void> {
    this.closes += 1
    this.writeStatus = 'closed'
  }

  abort(error: Error): void {
    this.aborted ??= error
  }

  end(): void {
    this.dispatchEvent(new Event('end'))
  }

  gone(error?: Error): void {
    this.dispatchEvent(Object.assign(new Event('close'), { error }))
  }
}

let clock: FakeClock
let initiator: FakeStream
let acceptor: FakeStream

beforeEach(() => {
  clock = new FakeClock()
  initiator = new FakeStream()
  acceptor = new FakeStream()
  const [one, other] = [initiator, acceptor] as unknown as readonly [Stream, Stream]
  carry(one, other, { maxBytes: 10_000, after: (ms, run) => clock.after(ms, run) })
})

describe('a relayed connection', () => {
  it('carries bytes both ways', () => {
    initiator.say(10)
    acceptor.say(20)
    expect([acceptor.taken, initiator.taken]).toEqual([10, 20])
  })

  it('reads no further from one member than the other takes', () => {
    acceptor.room = 100
    for (let count = 0; count < 50; count += 1) initiator.say(40)
    expect(acceptor.taken).toBe(120)
    expect(initiator.readStatus).toBe('paused')
    expect(acceptor.readStatus).toBe('readable')
    acceptor.drain()
    initiator.say(40)
    expect(acceptor.taken).toBe(160)
  })

  it('passes an end on and goes on the other way', () => {
    initiator.end()
    expect(acceptor.closes).toBe(1)
    acceptor.say(5)
    expect([initiator.taken, initiator.closes]).toEqual([5, 0])
  })

  it('passes on nothing to who takes nothing more', () => {
    initiator.end()
    initiator.say(10)
    expect(acceptor.taken).toBe(0)
  })

  it('passes a failure on at once', () => {
    const reset = new Error('reset')
    acceptor.gone(reset)
    expect(initiator.aborted).toBe(reset)
  })

  it('leaves the other member a while for the last bytes', () => {
    acceptor.gone()
    clock.advance(2_999)
    expect(initiator.aborted).toBeUndefined()
    clock.advance(1)
    expect(initiator.aborted).toBeInstanceOf(Error)
  })

  it('ends for both when it has carried its bytes, whoever sent them', () => {
    initiator.say(6_000)
    acceptor.say(4_000)
    expect([initiator.aborted, acceptor.aborted]).toEqual([undefined, undefined])
    acceptor.say(1)
    expect([initiator.aborted, acceptor.aborted]).toEqual([expect.any(Error), expect.any(Error)])
    expect(initiator.taken).toBe(4_000)
  })
})
