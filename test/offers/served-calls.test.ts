import { describe, expect, it } from 'vitest'
import { type Hash, type HolderId } from '../../src/core/ids.ts'
import { hashOfText } from '../../src/offers/receipt.ts'
import { createServedCalls, MAX_CALLS_PER_PEER, type ServedCall } from '../../src/offers/served-calls.ts'
import { buyer, stranger } from './signed.ts'

const [request, response] = [hashOfText('in'), hashOfText('out')]
const CALL: ServedCall = { request, response }

function hashOf(number: number): Hash {
  return number.toString(16).padStart(64, '0') as Hash
}

function call(number: number): ServedCall {
  return { request: hashOf(number), response }
}

function peer(number: number): HolderId {
  return hashOf(number) as string as HolderId
}

describe('createServedCalls', () => {
  it('gives each call that was noted once', () => {
    const served = createServedCalls()
    expect(served.take(buyer.id, CALL, 'a')).toBe(false)
    served.note(buyer.id, CALL, 'a')
    served.note(buyer.id, CALL, 'a')
    expect(served.servicesOf(buyer.id, CALL)).toEqual(['a', 'a'])
    expect(served.take(buyer.id, CALL, 'a')).toBe(true)
    expect(served.servicesOf(buyer.id, CALL)).toEqual(['a'])
    expect(served.take(buyer.id, CALL, 'a')).toBe(true)
    expect(served.servicesOf(buyer.id, CALL)).toEqual([])
    expect(served.take(buyer.id, CALL, 'a')).toBe(false)
  })

  it('knows a call by its peer, its service, what went in and what came out', () => {
    const served = createServedCalls()
    served.note(buyer.id, CALL, 'a')
    const others = [
      { request: response, response: request },
      { request, response: request },
      { request: response, response },
    ]
    for (const other of others) expect(served.servicesOf(buyer.id, other)).toEqual([])
    expect(served.servicesOf(stranger.id, CALL)).toEqual([])
    expect(served.take(buyer.id, CALL, 'b')).toBe(false)
    served.note(buyer.id, CALL, 'b')
    expect(served.servicesOf(buyer.id, CALL)).toEqual(['a', 'b'])
    expect(served.take(buyer.id, CALL, 'b')).toBe(true)
    expect(served.take(buyer.id, CALL, 'a')).toBe(true)
  })

  it('knows a peer while a call of it is noted', () => {
    const served = createServedCalls()
    expect(served.knows(buyer.id)).toBe(false)
    served.note(buyer.id, CALL, 'a')
    expect(served.knows(buyer.id)).toBe(true)
    served.take(buyer.id, CALL, 'a')
    expect(served.knows(buyer.id)).toBe(false)
  })

  it('remembers the last calls of a peer, a repeated one as a late one, whatever others do', () => {
    const served = createServedCalls()
    served.note(stranger.id, CALL, 'a')
    for (let number = 0; number < MAX_CALLS_PER_PEER; number += 1) served.note(buyer.id, call(number), 'a')
    served.note(buyer.id, call(1), 'a')
    served.note(buyer.id, call(MAX_CALLS_PER_PEER), 'a')
    expect(served.servicesOf(buyer.id, call(0))).toEqual([])
    expect(served.servicesOf(buyer.id, call(1))).toEqual(['a', 'a'])
    expect(served.servicesOf(buyer.id, call(2))).toEqual([])
    expect(served.servicesOf(buyer.id, call(3))).toEqual(['a'])
    expect(served.servicesOf(buyer.id, call(MAX_CALLS_PER_PEER))).toEqual(['a'])
    expect(served.servicesOf(stranger.id, CALL)).toEqual(['a'])
  })

  it('takes the place for a call from whoever has most, so that many keys of one push out nobody else', () => {
    const served = createServedCalls(4)
    for (let number = 0; number < 3; number += 1) served.note(buyer.id, call(number), 'a')
    served.note(stranger.id, CALL, 'a')
    served.note(peer(1), CALL, 'a')
    expect(served.servicesOf(buyer.id, call(0))).toEqual([])
    expect(served.servicesOf(buyer.id, call(1))).toEqual(['a'])
    served.note(peer(2), CALL, 'a')
    expect(served.servicesOf(buyer.id, call(1))).toEqual([])
    for (let number = 3; number < 1_000; number += 1) served.note(peer(number), CALL, 'a')
    for (const earlier of [stranger.id, peer(1), peer(2)]) expect(served.servicesOf(earlier, CALL)).toEqual(['a'])
    expect(served.servicesOf(buyer.id, call(2))).toEqual(['a'])
    expect(served.knows(peer(999))).toBe(false)
  })
})
