import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Address } from '../../../src/channel/address.ts'
import {
  believedSeen,
  headStartMs,
  MAX_ROUND_MS,
  planRounds,
  type Round,
  redialMs,
  roundMs,
  type Standing,
  worthDialling,
} from '../../../src/channel/punching/plan.ts'

function at(host: string, port = 4_000): Address {
  return { host, port }
}

const ONE: Standing = { seen: at('203.0.113.5'), isOpen: false, at: [] }
const OTHER: Standing = { seen: at('198.51.100.7'), isOpen: false, at: [] }
const IPV6: Standing = { seen: at('2001:db8::1'), isOpen: false, at: [] }
const NO_PORT: Standing = { seen: at('192.0.2.1', 0), isOpen: false, at: [] }
const UNSEEN: Standing = { isOpen: false, at: [] }

const plans: readonly (readonly [string, Standing, Standing, readonly Round[]])[] = [
  ['a hole, then an open side, for two that are seen', ONE, OTHER, ['cross', 'receive']],
  ['the open side first where one is', ONE, { ...OTHER, isOpen: true }, ['receive', 'cross']],
  ['the open side first where it is the caller', { ...ONE, isOpen: true }, OTHER, ['receive', 'cross']],
  ['no hole for a side whose port cannot be used again', NO_PORT, OTHER, ['receive']],
  ['no hole to a side that is not seen', ONE, UNSEEN, ['receive']],
  ['nothing for two of different families', ONE, IPV6, []],
  ['nothing where nobody is seen', UNSEEN, NO_PORT, []],
]

describe('planRounds', () => {
  it.each(plans)('plans %s', (_, caller, acceptor, rounds) => {
    expect(planRounds(caller, acceptor)).toEqual(rounds)
  })
})

describe('the time of a round', () => {
  it('grows with the way to the peer, and is bounded', () => {
    fc.assert(
      fc.property(fc.double({ min: -1e6, max: 1e9, noNaN: true }), (roundTripMs) => {
        const ms = roundMs(roundTripMs)
        expect(ms).toBeGreaterThanOrEqual(Math.min(MAX_ROUND_MS, 3 * roundTripMs))
        expect(ms).toBeGreaterThan(0)
        expect(ms).toBeLessThanOrEqual(MAX_ROUND_MS)
        expect(headStartMs(roundTripMs)).toBeGreaterThanOrEqual(0)
        expect(headStartMs(roundTripMs)).toBeLessThanOrEqual(MAX_ROUND_MS)
      }),
    )
    expect(headStartMs(100)).toBe(50)
  })

  it('has room for dials that are turned away, ever fewer', () => {
    expect([1, 2, 3, 4, 5, 6, 60].map((attempt) => redialMs(attempt, 0.5))).toEqual([20, 40, 80, 160, 320, 320, 320])
    expect([redialMs(1, 0), redialMs(1, 1)]).toEqual([10, 30])
  })
})

const named = [
  at('203.0.113.9'),
  at('203.0.113.9', 0),
  at('192.168.1.2'),
  at('127.0.0.1'),
  at('10.0.0.1'),
  at('198.51.100.66'),
  at('evil.example'),
  at('203.0.113.9'),
]
const isNeighbour = (host: string): boolean => host.startsWith('192.168.1.')

describe('worthDialling', () => {
  const peer: Standing = { isOpen: false, at: named }

  it('takes where the broker sees the peer, once, and no third party', () => {
    const vantage = { peerHosts: new Set(['203.0.113.9']), ownHost: '203.0.113.1', isNeighbour }
    expect(worthDialling(peer, vantage)).toEqual([at('203.0.113.9')])
  })

  it('takes a neighbour where both are seen behind one address', () => {
    const vantage = { peerHosts: new Set(['203.0.113.9']), ownHost: '203.0.113.9', isNeighbour }
    expect(worthDialling(peer, vantage)).toEqual([at('203.0.113.9'), at('192.168.1.2')])
  })

  it('takes nothing of a peer that the broker has not named', () => {
    expect(worthDialling(peer, { peerHosts: new Set(), ownHost: undefined, isNeighbour })).toEqual([])
    expect(worthDialling(peer, { peerHosts: new Set(), ownHost: '203.0.113.1', isNeighbour })).toEqual([])
  })
})

describe('believedSeen', () => {
  it('believes the port of a peer and not its host', () => {
    expect(believedSeen(ONE, new Set(['203.0.113.5']))).toEqual(at('203.0.113.5'))
    expect(believedSeen(ONE, new Set(['203.0.113.6']))).toBeUndefined()
    expect(believedSeen(NO_PORT, new Set(['192.0.2.1']))).toBeUndefined()
    expect(believedSeen(UNSEEN, new Set(['192.0.2.1']))).toBeUndefined()
  })
})
