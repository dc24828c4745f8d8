import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MAX_PROVEN, type Peer, withProven } from '../../../src/agent/peers/peer.ts'
import { parsePeer, peerText } from '../../../src/agent/peers/peer-file.ts'
import { type Address } from '../../../src/channel/index.ts'
import { type UnixSeconds } from '../../../src/core/u64.ts'
import { memberPeer, succession, ticketPeer } from './peers.ts'

const addresses: fc.Arbitrary<readonly Address[]> = fc.array(
  fc.record({
    host: fc.oneof(
      fc.ipV4(),
      fc.ipV6().filter((host) => !host.includes('%')),
      fc.constant('agent.example.org'),
    ),
    port: fc.integer({ min: 0, max: 65_535 }),
  }),
  { maxLength: 6 },
)

const peers: fc.Arbitrary<Peer> = fc.oneof(
  addresses.map((proven) => ticketPeer({ proven })),
  fc
    .record({
      addresses,
      proven: addresses,
      renewedAt: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => value as UnixSeconds),
      knownAs: fc.stringMatching(/^[a-zA-Z0-9 ]{0,40}$/).map((text) => text.trim()),
    })
    .map(memberPeer),
)

/** What nobody must read in a message. */
const SECRETS = [ticketPeer().ticket.slice(10, 40), memberPeer().grant.signature.slice(0, 30)]

describe('the file of a peer', () => {
  it('says all that is remembered, to the digit', () => {
    fc.assert(
      fc.property(peers, (peer) => {
        expect(parsePeer(peerText(peer))).toEqual({ value: peer })
      }),
    )
  })

  it('has another version once the operator of the peer has changed its key', () => {
    const peer = memberPeer({ successions: [succession()] })
    const text = peerText(peer)
    expect(text).toMatch(/^\{"version":2,/)
    expect(parsePeer(text)).toEqual({ value: peer })
  })

  it('is one line of JSON with its version', () => {
    for (const peer of [ticketPeer(), memberPeer()]) {
      expect(peerText(peer)).toMatch(/^\{"version":1,[^\n]*\}\n$/)
    }
  })

  it('is refused, without a word of it, wherever it is cut off or changed', () => {
    const text = fc.constantFrom(peerText(ticketPeer()), peerText(memberPeer()))
    const damaged = fc.tuple(text, fc.nat(), fc.string({ maxLength: 3 }), fc.nat(4)).map(([whole, at, put, drop]) => {
      const start = at % whole.length
      return `${whole.slice(0, start)}${put}${whole.slice(start + drop)}`
    })
    fc.assert(
      fc.property(
        fc.oneof(
          damaged,
          text.map((whole) => whole.slice(0, 200)),
        ),
        (content) => {
          const parsed = parsePeer(content)
          if ('value' in parsed) return
          for (const secret of SECRETS) expect(parsed.problem).not.toContain(secret)
        },
      ),
    )
  })

  const member = JSON.parse(peerText(memberPeer())) as Record<string, unknown>
  const ticket = JSON.parse(peerText(ticketPeer())) as Record<string, unknown>
  const broken: readonly (readonly [string, unknown, RegExp])[] = [
    ['a later version', { ...ticket, version: 3 }, /expected version 1 or 2, found 3/],
    ['no version', { ...ticket, version: undefined }, /version/],
    ['another kind', { ...ticket, kind: 'friend' }, /kind/],
    ['half a ticket', { ...ticket, ticket: String(ticket['ticket']).slice(0, 60) }, /not a usable ticket/],
    ['a grant of a byte less', { ...member, grant: String(member['grant']).slice(2) }, /grant/],
    ['a grant that is no hex', { ...member, grant: 'xy' }, /grant/],
    ['no staple', { ...member, staple: undefined }, /staple/],
    ['an address without a port', { ...member, proven: ['203.0.113.5'] }, /proven\[0\]/],
    ['a broker that is none', { ...member, broker: ['nowhere'] }, /broker\[0\]/],
    ['a time with a fraction', { ...member, renewed_at: 1.5 }, /renewed_at/],
    ['a list', [], /object/],
  ]
  for (const [name, value, problem] of broken) {
    it(`is refused with ${name}`, () => {
      expect(parsePeer(JSON.stringify(value))).toEqual({ problem: expect.stringMatching(problem) })
    })
  }

  it('is refused when it is no JSON, without repeating it', () => {
    expect(parsePeer(peerText(ticketPeer()).slice(0, 80))).toEqual({ problem: 'expected JSON, found something else' })
  })
})

it('an address at which a peer proved itself comes first, once, and pushes out the oldest', () => {
  const at = (port: number): Address => ({ host: '203.0.113.5', port })
  const ports = [1, 2, 3, 2, 4, 5, 6].map(at)
  const peer = ports.reduce<Peer>(withProven, ticketPeer())
  expect(peer.proven.map(({ port }) => port)).toEqual([6, 5, 4, 2])
  expect(peer.proven).toHaveLength(MAX_PROVEN)
})
