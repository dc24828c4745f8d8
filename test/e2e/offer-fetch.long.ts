import { existsSync, readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { openCard, parseCard } from '../../src/cards/index.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { U64_MAX, u64, unixSeconds } from '../../src/core/u64.ts'
import { openBid, parseBid } from '../../src/offers/bid.ts'
import { matchOf, parseMatch } from '../../src/offers/clearing.ts'
import { type CapacityOffer, openOffer, parseOffer } from '../../src/offers/offer.ts'
import { until } from '../mcp/services/processes.ts'
import { type Behaviour, openSeller } from './own-seller.ts'
import { SELLING } from './seller.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

const BID = ['--bid', '--units', '60', '--price', '600', '--model', 'm1']

function fetchOffer(stage: Stage, ticket: string, ...args: readonly string[]) {
  return stage.finish(['offer', 'fetch', ticket, ...args], { env: stateOf(stage, 'buyer') })
}

async function startSeller(stage: Stage): Promise<string> {
  return stage.start(['serve', '--listen', '127.0.0.1:0'], { env: { ...SELLING, ...stateOf(stage, 'seller') } }).line()
}

interface Shown {
  readonly valid: boolean
  readonly peer: string
  readonly findings: readonly { code: string; message: string }[]
  readonly tools: readonly string[]
  readonly offer: object
  readonly card: object | null
  readonly bid?: object
  readonly match?: object
}

function read(stdout: string): Shown {
  expect(stdout.split('\n')).toHaveLength(2)
  return JSON.parse(stdout) as Shown
}

describe.concurrent('ct-agent offer fetch', SLOW, () => {
  it('finds an honest seller valid, and shows what it sells', async ({ stage }) => {
    const ticket = await startSeller(stage)
    const people = await fetchOffer(stage, ticket)
    expect([people.status, people.stderr]).toEqual([0, ''])
    expect(people.stdout).toMatch(/^offer +signed by the peer, holds for \d+ h$/m)
    expect(people.stdout).toMatch(/^units +100$/m)
    const programs = await fetchOffer(stage, ticket, '--json')
    expect([programs.status, programs.stderr]).toEqual([0, ''])
    const shown = read(programs.stdout)
    expect(shown).toMatchObject({ valid: true, findings: [], card: { role_tags: ['seller'] } })
    expect(shown.tools).toContain('service/safety_check')
    expect(openOffer(parseOffer(JSON.stringify(shown.offer)), { now: unixSeconds(systemClock) }).body.holder).toBe(
      shown.peer,
    )
    expect(shown).not.toHaveProperty('match')
  })

  it('buys with --bid, computes the match itself, and keeps all that was signed', async ({ stage }) => {
    const ticket = await startSeller(stage)
    const { status, stdout, stderr } = await fetchOffer(stage, ticket, ...BID, '--json', '--save', 'purchase')
    expect([status, stderr]).toEqual([0, ''])
    const now = unixSeconds(systemClock)
    const kept = (name: string) => readFileSync(stage.path(`purchase/${name}.json`), 'utf8')
    const offer = openOffer(parseOffer(kept('offer')), { now })
    const bid = openBid(parseBid(kept('bid')), { now })
    const match = parseMatch(kept('match'))
    expect(openCard(parseCard(kept('card')), { now }).body.holder).toBe(offer.body.holder)
    expect(match).toEqual(matchOf(offer.body, bid.body))
    expect(match).toMatchObject({ units: 60n, totalPrice: 600n, model: 'm1' })
    expect(read(stdout)).toMatchObject({ valid: true, match: { match_ref: match.matchRef, units: 60 } })
    const book = await stage.finish(['offer', 'book', '--json'], { env: stateOf(stage, 'seller') })
    expect(JSON.parse(book.stdout)).toMatchObject({ sold: 60, sales: [{ match: { match_ref: match.matchRef } }] })
  })

  it("says the seller's reason when it refuses the bid, with the status of a failed tool", async ({ stage }) => {
    const ticket = await startSeller(stage)
    expect((await fetchOffer(stage, ticket, ...BID)).status).toBe(0)
    const { status, stderr } = await fetchOffer(stage, ticket, ...BID)
    expect(status).toBe(4)
    expect(stderr).toContain('not enough units remain')
  })

  it('reports a seller that serves more than its signed offer, and buys nothing from it', async ({ stage }) => {
    const seller = await openSeller(stage, { services: ['safety_check', 'static_analysis', 'code_generation'] })
    const { status, stdout, stderr } = await fetchOffer(stage, seller.ticket, ...BID, '--json')
    expect(status).toBe(3)
    expect(read(stdout)).toMatchObject({ valid: false, findings: [{ code: 'ERR_CATALOG_EXCEEDED' }] })
    expect(read(stdout).findings[0]?.message).toContain('"service/code_generation"')
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: 'ERR_CATALOG_EXCEEDED' } })
    expect(seller.bids).toBe(0)
    const people = await fetchOffer(stage, seller.ticket)
    expect(people.status).toBe(3)
    expect(people.stdout).toMatch(/^offer +not to be trusted$/m)
  })

  const dishonest: Readonly<Record<string, readonly [string, number, () => Behaviour]>> = {
    'an offer that another key signed': ['ERR_SIGNER_MISMATCH', 3, () => ({ signer: holderKey(SecretKey.generate()) })],
    'an offer in the name of another': [
      'ERR_SIGNATURE_INVALID',
      3,
      () => ({ offer: { holder: holderKey(SecretKey.generate()).id } }),
    ],
    'an offer that expired': ['ERR_ARTEFACT_EXPIRED', 3, () => ({ offer: { expiresAt: u64(1) } })],
    'an offer of the future': ['ERR_ARTEFACT_EARLY', 3, () => ({ offer: { issuedAt: U64_MAX } })],
    'two services that are one tool': [
      'ERR_CATALOG_EXCEEDED',
      3,
      () => ({ offer: { services: ['SafetyCheck', { Custom: 'Safety-Check' }] } }),
    ],
  }
  for (const [name, [code, status, behaviour]] of Object.entries(dishonest)) {
    it(`says ${code} of ${name}, and does not bid`, async ({ stage }) => {
      const seller = await openSeller(stage, behaviour())
      const ended = await fetchOffer(stage, seller.ticket, ...BID, '--json')
      expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code } })
      expect(ended.status).toBe(status)
      expect(read(ended.stdout).valid).toBe(false)
      expect(seller.bids).toBe(0)
    })
  }

  const twists: Readonly<Record<string, Behaviour['match']>> = {
    'another match_ref': (match) => ({ ...match, matchRef: `${'0'.repeat(64)}` as typeof match.matchRef }),
    'a higher price': (match) => ({ ...match, totalPrice: u64(match.totalPrice + 1n) }),
    'fewer units': (match) => ({ ...match, units: u64(match.units - 1n) }),
    'another model': (match) => ({ ...match, model: 'm2' }),
    'another provider': (match) => ({ ...match, provider: match.consumer }),
  }
  for (const [name, match] of Object.entries(twists)) {
    it(`does not believe a match with ${name}`, async ({ stage }) => {
      const seller = await openSeller(stage, match === undefined ? {} : { match })
      const ended = await fetchOffer(stage, seller.ticket, ...BID, '--json')
      expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: 'ERR_MATCH_INVALID' } })
      expect([ended.status, seller.bids]).toEqual([3, 1])
    })
  }

  it('believes a match with an offer that was signed anew just before', async ({ stage }) => {
    const seller = await openSeller(stage, { renews: {} })
    const ended = await fetchOffer(stage, seller.ticket, ...BID, '--json')
    expect([ended.status, ended.stderr]).toEqual([0, ''])
    expect(seller.bids).toBe(1)
  })

  const changes: Readonly<Record<string, Partial<CapacityOffer>>> = {
    currency: { currency: 'other' },
    services: { services: [] },
    models: { models: ['m1', 'm2', 'm3'] },
    floor: { minPrice: u64(600) },
  }
  for (const [what, change] of Object.entries(changes)) {
    it(`does not believe a match with an offer that was signed anew with another ${what}`, async ({ stage }) => {
      const seller = await openSeller(stage, { services: [], renews: change })
      const ended = await fetchOffer(stage, seller.ticket, ...BID, '--json', '--save', 'purchase')
      expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: 'ERR_MATCH_INVALID' } })
      expect(read(ended.stdout)).toMatchObject({ valid: false, bid: { units: 60 } })
      expect(existsSync(stage.path('purchase/match.json'))).toBe(false)
    })
  }

  it('buys nothing where it could not be kept', async ({ stage }) => {
    const seller = await openSeller(stage)
    const ended = await fetchOffer(stage, seller.ticket, ...BID, '--save', '/proc/nowhere')
    expect([ended.status, seller.bids]).toEqual([2, 0])
  })

  it('keeps a bid before it is sent, so that one without an answer can be submitted again', async ({ stage }) => {
    const seller = await openSeller(stage, { forgetsToAnswer: true })
    const env = { ...stateOf(stage, 'buyer'), CT_CHANNEL_CALL_TIMEOUT_SECS: '1' }
    const first = await stage.finish(['offer', 'fetch', seller.ticket, ...BID, '--save', 'purchase'], { env })
    expect(first.status).toBe(6)
    expect(first.stdout).toMatch(/^problem +ERR_CALL_TIMEOUT/m)
    const kept = stage.path('purchase/bid.json')
    const again = await fetchOffer(stage, seller.ticket, '--submit', kept, '--json')
    expect([again.status, again.stderr]).toEqual([0, ''])
    expect(read(again.stdout)).toMatchObject({ bid: JSON.parse(readFileSync(kept, 'utf8')), match: { units: 60 } })
  })

  it('does not submit a bid of another key', async ({ stage }) => {
    const seller = await openSeller(stage)
    expect((await fetchOffer(stage, seller.ticket, ...BID, '--save', 'purchase')).status).toBe(0)
    const args = ['offer', 'fetch', seller.ticket, '--submit', stage.path('purchase/bid.json')]
    const ended = await stage.finish(args, { env: stateOf(stage, 'thief') })
    expect([ended.status, seller.bids]).toEqual([2, 1])
  })

  it('says that a peer sells nothing when it has no offer', async ({ stage }) => {
    const ticket = await stage.start(['serve', '--listen', '127.0.0.1:0'], { env: stateOf(stage, 'seller') }).line()
    const ended = await fetchOffer(stage, ticket, '--json')
    expect(ended.status).toBe(4)
    expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: 'ERR_TOOL_UNKNOWN' } })
    expect(read(ended.stdout)).toMatchObject({
      valid: false,
      findings: [{ code: 'ERR_TOOL_UNKNOWN' }],
      offer: null,
      tools: ['ping'],
    })
    const people = await fetchOffer(stage, ticket)
    expect(people.stdout).toMatch(/^problem +ERR_TOOL_UNKNOWN: /m)
  })

  it('sends no bid that does not clear, and says why', async ({ stage }) => {
    const seller = await openSeller(stage)
    const bid = ['--bid', '--units', '1001', '--price', '600', '--model', 'm1']
    const ended = await fetchOffer(stage, seller.ticket, ...bid, '--json')
    expect([ended.status, seller.bids]).toEqual([2, 0])
    expect(JSON.parse(ended.stderr)).toMatchObject({
      error: { code: 'ERR_USAGE', message: expect.stringContaining('expected at most 1000 units, found 1001') },
    })
  })

  it('keeps one purchase in a folder: another is refused before anybody is asked', async ({ stage }) => {
    const seller = await openSeller(stage)
    expect((await fetchOffer(stage, seller.ticket, ...BID, '--save', 'purchase')).status).toBe(0)
    const kept = () =>
      ['offer', 'bid', 'match'].map((name) => readFileSync(stage.path(`purchase/${name}.json`), 'utf8'))
    const before = kept()
    for (const bid of [BID, []]) {
      const ended = await fetchOffer(stage, seller.ticket, ...bid, '--save', 'purchase')
      expect([ended.status, seller.bids]).toEqual([2, 1])
      expect(ended.stderr).toContain('expected a folder for a new purchase, found "purchase/bid.json"')
    }
    const again = ['--submit', 'purchase/bid.json', '--save', 'purchase']
    expect(await fetchOffer(stage, seller.ticket, ...again)).toMatchObject({ status: 0, stderr: '' })
    expect([kept(), seller.bids]).toEqual([before, 2])
  })

  it('reads the variables of a bid also when it makes none, and refuses the malformed ones', async ({ stage }) => {
    const seller = await openSeller(stage)
    const env = stateOf(stage, 'buyer')
    const finish = (more: Readonly<Record<string, string>>) =>
      stage.finish(['offer', 'fetch', seller.ticket], { env: { ...env, ...more } })
    expect((await finish({ CT_BID_UNITS: '3' })).status).toBe(0)
    const ended = await finish({ CT_BID_UNITS: 'many' })
    expect([ended.status, ended.stdout]).toEqual([2, ''])
    expect(ended.stderr).toContain('CT_BID_UNITS invalid')
  })

  it('says that it was the signal that stopped it, and that the bid may have been matched', async ({ stage }) => {
    const seller = await openSeller(stage, { forgetsToAnswer: true })
    const args = ['offer', 'fetch', seller.ticket, ...BID, '--save', 'purchase', '--json']
    const fetching = stage.start(args, { env: stateOf(stage, 'buyer') })
    await until('the bid', () => seller.bids === 1)
    fetching.signal('SIGINT')
    expect((await fetching.exit).status).toBe(9)
    expect(JSON.parse(fetching.stderr)).toMatchObject({
      error: { code: 'ERR_CALL_OUTCOME_UNKNOWN', message: expect.stringMatching(/^stopped by SIGINT/) },
    })
    expect(read(fetching.stdout)).toMatchObject({ valid: false, bid: { units: 60 } })
  })
})
