import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { type HolderId } from '../../src/core/ids.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { type OfferConfig } from '../../src/offers/config.ts'
import { bidOf, Selling } from './selling.ts'
import { buyer, stranger } from './signed.ts'

/** The beginning of a window of 60 s, of one of 100 s, and of one of an hour. */
const WINDOW = 1_800_000_000

const LIMITED = { message: 'bid rate limit exceeded for this consumer — slow down', reason: 'rate_limited' }
const lasting = { issuedAt: u64(WINDOW), expiresAt: U64_MAX }
/** Valid bids that do not clear. */
const futile = { buyer: bidOf({ ...lasting, model: 'm3' }), stranger: bidOf({ ...lasting, model: 'm3' }, stranger) }

function open(settings: Partial<OfferConfig> = {}): Promise<Selling> {
  return Selling.open({ maxBids: 2, ...settings })
}

/** How many bids more are allowed now, up to five; it uses them up. */
function allowance(selling: Selling, who: keyof typeof futile = 'buyer'): number {
  for (let count = 0; count < 5; count += 1) {
    const { reason } = selling.bid(futile[who]) as { reason: unknown }
    if (reason === 'rate_limited') return count
    expect(reason).toBe('model_not_offered')
  }
  return 5
}

describe('the limit of bids', () => {
  it('lets each peer submit so many in a window, whether they clear or not', async () => {
    const selling = await open()
    expect(selling.bid(bidOf())).toHaveProperty('matchRef')
    expect(allowance(selling)).toBe(1)
    expect(selling.bid(bidOf({ units: u64(1) }))).toEqual(LIMITED)
    expect(allowance(selling, 'stranger')).toBe(2)
  })

  it('does not count what is no valid bid of the peer', async () => {
    const selling = await open()
    for (let count = 0; count < 3; count += 1) {
      expect(selling.send('{}')).toMatchObject({ reason: 'missing_bid' })
      expect(selling.send('{"bid":{}}')).toMatchObject({ reason: 'malformed' })
      expect(selling.bid(bidOf({ bidder: buyer.id }, stranger))).toMatchObject({ reason: 'signature_invalid' })
      expect(selling.bid(bidOf({ expiresAt: u64(1) }))).toMatchObject({ reason: 'expired' })
      expect(selling.bid(futile.stranger, buyer.id)).toMatchObject({ reason: 'bidder_is_not_peer' })
      expect(selling.bid(futile.buyer, stranger.id)).toMatchObject({ reason: 'bidder_is_not_peer' })
    }
    expect(allowance(selling)).toBe(2)
    expect(allowance(selling, 'stranger')).toBe(2)
  })

  it('does not count a bid that was matched before', async () => {
    const selling = await open()
    const match = selling.bid(bidOf())
    for (let count = 0; count < 5; count += 1) expect(selling.bid(bidOf())).toEqual(match)
    expect(allowance(selling)).toBe(1)
  })

  it('begins anew with every window, to the second', async () => {
    const selling = await open()
    selling.now = WINDOW + 59
    expect(allowance(selling)).toBe(2)
    selling.now = WINDOW + 59.999
    expect(allowance(selling)).toBe(0)
    selling.now = WINDOW + 60
    expect(allowance(selling)).toBe(2)
    selling.now = WINDOW + 119.999
    expect(allowance(selling)).toBe(0)
    selling.now = WINDOW + 86_400
    expect(allowance(selling)).toBe(2)
  })

  it('survives a restart', async () => {
    const selling = await open()
    expect(allowance(selling)).toBe(2)
    await selling.restart({ maxBids: 2 })
    expect(allowance(selling)).toBe(0)
    await selling.restart({ maxBids: 4 })
    // What the limit itself refused does not count: it is not even written down.
    expect(allowance(selling)).toBe(2)
    selling.now += 60
    expect(allowance(selling)).toBe(4)
  })

  it('is not evaded by a clock that is set back, and not prolonged by more than a window', async () => {
    const selling = await open()
    selling.now = WINDOW + 120
    expect(allowance(selling)).toBe(2)
    for (const back of [119, 60, 0]) {
      selling.now = WINDOW + back
      expect(allowance(selling)).toBe(0)
    }
    selling.now = WINDOW + 60
    expect(allowance(selling)).toBe(2)
  })

  it('locks nobody out for long after a clock that was years ahead', async () => {
    const selling = await open()
    selling.now = WINDOW + 400_000_000
    expect(allowance(selling)).toBe(2)
    selling.now = WINDOW
    expect(allowance(selling)).toBe(0)
    selling.now = WINDOW + 60
    expect(allowance(selling)).toBe(2)
  })

  it('goes on with windows of another length', async () => {
    const selling = await open()
    expect(allowance(selling)).toBe(2)
    await selling.restart({ maxBids: 2, windowSeconds: u64(3_600) })
    expect(allowance(selling)).toBe(0)
    selling.now = WINDOW + 3_600
    expect(allowance(selling)).toBe(2)
    await selling.restart({ maxBids: 2, windowSeconds: u64(100) })
    expect(allowance(selling)).toBe(0)
    selling.now = WINDOW + 3_700
    expect(allowance(selling)).toBe(2)
  })

  it('is for ever with a window of 0', async () => {
    const selling = await open({ windowSeconds: u64(0) })
    expect(allowance(selling)).toBe(2)
    selling.now = WINDOW + 4_000_000_000
    expect(allowance(selling)).toBe(0)
    await selling.restart({ maxBids: 2, windowSeconds: u64(0) })
    expect(allowance(selling)).toBe(0)
  })

  it('is for ever with a window longer than time itself', async () => {
    const selling = await open({ windowSeconds: U64_MAX })
    expect(allowance(selling)).toBe(2)
    selling.now = WINDOW + 4_000_000_000
    expect(allowance(selling)).toBe(0)
  })

  it('refuses every bid when none is allowed, but for those that were matched before', async () => {
    const selling = await open()
    const match = selling.bid(bidOf())
    await selling.restart({ maxBids: 0 })
    expect(allowance(selling)).toBe(0)
    expect(allowance(selling, 'stranger')).toBe(0)
    expect(selling.bid(bidOf())).toEqual(match)
  })

  it('is kept by processes whose windows differ in length, in turns too', async () => {
    const long = await open({ windowSeconds: u64(3_600) })
    const ever = await Selling.open({ maxBids: 2, windowSeconds: u64(0) }, long.path)
    const short = await Selling.open({ maxBids: 2 }, long.path)
    for (const selling of [long, ever, short]) selling.now = WINDOW
    expect(long.bid(bidOf())).toHaveProperty('matchRef')
    expect(short.bid(bidOf({ units: u64(1) }))).toHaveProperty('matchRef')
    for (const selling of [ever, short, long, ever]) expect(allowance(selling)).toBe(0)
    for (const selling of [long, ever, short]) selling.now = WINDOW + 60
    expect([long, ever].map((selling) => allowance(selling))).toEqual([0, 0])
    expect(allowance(short)).toBe(2)
    for (const selling of [long, ever, short]) selling.now = WINDOW + 3_600
    expect(allowance(ever)).toBe(0)
    expect(allowance(long)).toBe(2)
    expect([short, ever].map((selling) => allowance(selling))).toEqual([0, 0])
  })

  it('is kept for as many lengths of windows as anybody has, and the oldest are forgotten', async () => {
    const selling = await open({ windowSeconds: u64(1_000_000) })
    for (let seconds = 1; seconds <= 40; seconds += 1) {
      selling.book.update((page) =>
        page.countBid(stranger.id, { now: u64(WINDOW), seconds: u64(seconds), maxPeers: 9 }),
      )
    }
    const database = new DatabaseSync(selling.path)
    expect(database.prepare('SELECT count(*) AS count FROM windows').get()?.['count']).toBe(8)
    expect(database.prepare('SELECT count(*) AS count FROM bids').get()?.['count']).toBe(8)
    database.close()
  })

  it('writes nothing for what it refuses', async () => {
    const selling = await open()
    expect(allowance(selling)).toBe(2)
    const database = new DatabaseSync(selling.path)
    const version = () => database.prepare('PRAGMA data_version').get()?.['data_version']
    const before = version()
    expect(allowance(selling)).toBe(0)
    expect(version()).toBe(before)
    selling.now += 60
    expect(allowance(selling)).toBe(2)
    expect(version()).not.toBe(before)
    database.close()
  })

  it('is not forgotten when the book is begun anew', async () => {
    const selling = await open()
    expect(allowance(selling)).toBe(2)
    selling.book.update((page) => page.clear())
    expect(allowance(selling)).toBe(0)
  })
})

describe('the memory of bids', () => {
  const peers = Array.from({ length: 4 }, (_, index) => `${index}`.repeat(64) as HolderId)

  it('has room for so many peers: one too many is refused, and pushes out nobody', async () => {
    const { book } = await Selling.open()
    const count = (peer: HolderId = buyer.id, began = 60) =>
      book.update((page) => page.countBid(peer, { now: u64(began), seconds: u64(60), maxPeers: 3 }))
    expect(peers.map((peer) => count(peer))).toEqual([1, 1, 1, undefined])
    expect(count(peers[0])).toBe(2)
    expect(count(peers[3])).toBeUndefined()
    expect(count(peers[3], 120)).toBe(1)
    expect(count(peers[0], 120)).toBe(1)
  })
})
