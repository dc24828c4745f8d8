import { describe, expect, it } from 'vitest'
import { type Hash, type HolderId } from '../../src/core/ids.ts'
import { hashOfText } from '../../src/offers/receipt.ts'
import { createServedCalls } from '../../src/offers/served-calls.ts'
import { buyer, stranger } from './signed.ts'

const [asked, answered] = [hashOfText('in'), hashOfText('out')]

function hashOf(number: number): Hash {
  return number.toString(16).padStart(64, '0') as Hash
}

describe('createServedCalls', () => {
  it('gives each call that was noted once', () => {
    const served = createServedCalls()
    expect(served.take(buyer.id, asked, answered)).toBe(false)
    served.note(buyer.id, asked, answered)
    served.note(buyer.id, asked, answered)
    expect(served.has(buyer.id, asked, answered)).toBe(true)
    expect(served.take(buyer.id, asked, answered)).toBe(true)
    expect(served.has(buyer.id, asked, answered)).toBe(true)
    expect(served.take(buyer.id, asked, answered)).toBe(true)
    expect(served.has(buyer.id, asked, answered)).toBe(false)
    expect(served.take(buyer.id, asked, answered)).toBe(false)
  })

  it('knows a call by its peer, what went in and what came out', () => {
    const served = createServedCalls()
    served.note(buyer.id, asked, answered)
    const others = [
      [stranger.id, asked, answered],
      [buyer.id, answered, asked],
      [buyer.id, asked, asked],
      [buyer.id, answered, answered],
    ] as const
    for (const other of others) {
      expect(served.has(...other)).toBe(false)
      expect(served.take(...other)).toBe(false)
    }
    expect(served.take(buyer.id, asked, answered)).toBe(true)
  })

  it('remembers the last 1024 calls of a peer, whatever others do', () => {
    const served = createServedCalls()
    served.note(stranger.id, asked, answered)
    for (let call = 0; call <= 1_024; call += 1) served.note(buyer.id, hashOf(call), answered)
    expect(served.has(buyer.id, hashOf(0), answered)).toBe(false)
    expect(served.has(buyer.id, hashOf(1), answered)).toBe(true)
    expect(served.has(buyer.id, hashOf(1_024), answered)).toBe(true)
    expect(served.has(stranger.id, asked, answered)).toBe(true)
  })

  it('remembers 1024 peers, those that called last, and forgets first whoever has a receipt for all', () => {
    const served = createServedCalls()
    const peers = Array.from({ length: 1_025 }, (_, index) => hashOf(index) as string as HolderId)
    const [first, second, third] = peers as [HolderId, HolderId, HolderId]
    for (const peer of peers.slice(0, 1_024)) served.note(peer, asked, answered)
    served.note(first, answered, asked)
    expect(served.take(third, asked, answered)).toBe(true)
    const [last] = peers.slice(-1) as [HolderId]
    served.note(last, asked, answered)
    expect(served.has(second, asked, answered)).toBe(true)
    served.note(third, asked, answered)
    expect(served.has(second, asked, answered)).toBe(false)
    expect(served.has(first, asked, answered)).toBe(true)
    expect(served.has(last, asked, answered)).toBe(true)
  })
})
