import { mkdirSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { openCard, parseCard } from '../../src/cards/index.ts'
import { type Env } from '../../src/core/env.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { holderKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { U64_MAX, u64, unixSeconds } from '../../src/core/u64.ts'
import { matchJson, matchOf, parseMatch } from '../../src/offers/clearing.ts'
import { parseOffer } from '../../src/offers/offer.ts'
import { canMount, SmallDisk } from '../small-disk.ts'
import { makeKeys, memberEnv } from './members.ts'
import { fetchOffer, Market, resultOf, SELLING, submit, type Way } from './seller.ts'
import { it, SLOW, stateOf } from './stage.ts'

const REFUSING =
  'ct-agent channel: REFUSING 1 service tool(s) not in the signed offer\'s declared catalog (#167): [Custom("static_analysis")]'
const SOLD_OUT = 'offer capacity already committed to prior matches — not enough units remain'
const NO_CLEARING = 'bid does not clear against this offer (kind/model/units/floor/expiry)'
const TOO_MANY_BIDS = 'bid rate limit exceeded for this consumer — slow down'

/** How a failed tool looks to callers of the original. */
function failure(message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: -32000, message } })
}

const WAYS: readonly Way[] = ['ct-agent serve', 'ct-agent channel']

for (const way of WAYS) {
  describe.concurrent(`a seller that runs ${way}`, SLOW, () => {
    it('says once which services the offer does not allow, in the words of the original', async ({ stage }) => {
      const market = new Market(stage, way)
      const { agent, connect } = await market.start()
      for (let session = 0; session < 3; session += 1) {
        const peer = await connect()
        await peer.ask('tools/list')
        await peer.leave()
      }
      expect(agent.stderr.split('\n').filter((line) => line.includes('REFUSING'))).toEqual([REFUSING])
    })

    it('lists what it signed for and nothing else, and knows nothing of what was refused', async ({ stage }) => {
      const { connect } = await new Market(stage, way).start()
      const peer = await connect()
      const list = JSON.parse(await peer.ask('tools/list')) as { result: { tools: readonly { name: string }[] } }
      expect(list.result.tools.map(({ name }) => name)).toEqual([
        'agent/card',
        'auction/bid',
        'auction/offer',
        'ping',
        'service/safety_check',
      ])
      const call = (name: string) => peer.ask('tools/call', { name, arguments: { input: 'x' } })
      const unknown = await call('service/no_such_thing')
      expect(unknown).toContain('unknown tool `service/no_such_thing`')
      expect((await call('service/static_analysis')).replaceAll('static_analysis', 'no_such_thing')).toBe(unknown)
      expect(JSON.parse(await call('service/safety_check'))).toMatchObject({ result: { output: 'x' } })
    })

    it('matches the bid of its authenticated peer, as the peer can compute, and never sells more', async ({
      stage,
    }) => {
      const market = new Market(stage, way)
      const first = await market.start()
      const peer = await first.connect()
      const offer = await fetchOffer(peer)
      expect(offer.body).toMatchObject({ units: 100n, services: ['SafetyCheck'], holder: peer.session.peer.holder })
      const bid = market.bid()
      const answer = await submit(peer, bid)
      const match = parseMatch(resultOf(answer))
      expect(match).toEqual(matchOf(offer.body, bid.body))
      expect(await submit(peer, bid)).toBe(answer)
      const over = market.bid({ units: u64(41) })
      expect(await submit(peer, over)).toBe(failure(SOLD_OUT))

      await first.agent.kill()
      const second = await market.start()
      const again = await second.connect()
      expect(await fetchOffer(again)).toEqual(offer)
      expect(await submit(again, over)).toBe(failure(SOLD_OUT))
      expect(await submit(again, bid)).toBe(answer)
      const rest = market.bid({ units: u64(40) })
      expect(parseMatch(resultOf(await submit(again, rest)))).toMatchObject({ units: 40n, consumer: market.buyer.id })
      expect(await submit(again, market.bid({ units: u64(1) }))).toBe(failure(SOLD_OUT))

      await second.agent.kill()
      const third = await market.start({ CT_AGENT_OFFER_CURRENCY: 'd' })
      const last = await third.connect()
      expect((await fetchOffer(last)).body).toMatchObject({ units: 0n, currency: 'd' })
      expect(await submit(last, over)).toBe(failure(NO_CLEARING))
      expect(await submit(last, bid)).toBe(answer)
    })

    it('keeps offer, sales and limit over sessions: coming again gains nothing', async ({ stage }) => {
      const market = new Market(stage, way)
      const { connect } = await market.start({ CT_AGENT_OFFER_MAX_BIDS: '2', CT_AGENT_OFFER_WINDOW_SECS: '0' })
      const bid = market.bid()
      const answers: string[] = []
      const offers: string[] = []
      for (let session = 0; session < 3; session += 1) {
        const peer = await connect()
        offers.push(await peer.ask('tools/call', { name: 'auction/offer' }))
        answers.push(await submit(peer, bid))
        await peer.leave()
      }
      expect(new Set(offers).size).toBe(1)
      expect(new Set(answers).size).toBe(1)
      expect(answers[0]).toContain('match_ref')
      const futile = market.bid({ model: 'm2' })
      const outcomes: string[] = []
      for (let session = 0; session < 3; session += 1) {
        const peer = await connect()
        outcomes.push(await submit(peer, futile))
        await peer.leave()
      }
      expect(outcomes).toEqual([NO_CLEARING, TOO_MANY_BIDS, TOO_MANY_BIDS].map(failure))
    })

    it('takes a bid neither from another peer nor for no units, and says why to programs', async ({ stage }) => {
      const market = new Market(stage, way)
      const other = makeKeys()
      const holders = [market.buyer.id, holderKey(other.holder).id].join(',')
      const { connect } = await market.start({ CT_CHANNEL_PEER_NOISE_KEY: '', CT_CHANNEL_PEER_HOLDER: holders })
      const thief = await connect(other)
      const bid = market.bid()
      expect(await submit(thief, bid)).toBe(
        failure('the bidder of the bid is not the authenticated peer of this channel'),
      )
      const peer = await connect()
      expect(await submit(peer, market.bid({ units: u64(0) }))).toBe(failure(NO_CLEARING))
      await peer.initialize()
      const refusals = [
        [market.bid({ units: u64(0) }), NO_CLEARING, 'no_units'],
        [market.bid({ totalPrice: u64(9) }), NO_CLEARING, 'below_floor'],
        [market.bid({ units: U64_MAX }), NO_CLEARING, 'too_many_units'],
        [market.bid({ expiresAt: u64(1) }), 'bid signature invalid or expired', 'expired'],
      ] as const
      for (const [refused, message, reason] of refusals) {
        expect(JSON.parse(await submit(peer, refused))).toMatchObject({
          result: {
            isError: true,
            content: [{ type: 'text', text: message }],
            structuredContent: { code: 'ERR_TOOL_FAILED', message, reason },
          },
        })
      }
      const matched = JSON.parse(await submit(peer, bid)) as { result: { structuredContent: object } }
      const { body } = parseOffer(resultOf(await peer.ask('tools/call', { name: 'auction/offer' })))
      expect(matched.result.structuredContent).toEqual(JSON.parse(writeExactJson(matchJson(matchOf(body, bid.body)))))
    })

    it('shows a card that it signed itself', async ({ stage }) => {
      const { connect } = await new Market(stage, way).start()
      const peer = await connect()
      const sealed = parseCard(resultOf(await peer.ask('tools/call', { name: 'agent/card' })))
      const card = openCard(sealed, { now: unixSeconds(systemClock) })
      expect(card.body).toMatchObject({ holder: peer.session.peer.holder, roleTags: ['seller'] })
    })

    it('keeps every digit of the largest amounts', async ({ stage }) => {
      const market = new Market(stage, way)
      const { connect } = await market.start({ CT_AGENT_OFFER_UNITS: `${U64_MAX}` })
      const peer = await connect()
      expect(await peer.ask('tools/call', { name: 'auction/offer' })).toContain(`"units_available":${U64_MAX}`)
      const answer = await submit(peer, market.bid({ units: u64(U64_MAX - 1n), totalPrice: U64_MAX }))
      expect(answer).toContain(`"total_price":${U64_MAX},"units":${U64_MAX - 1n}}`)
      expect(await submit(peer, market.bid({ units: u64(2), issuedAt: u64(1) }))).toBe(failure(SOLD_OUT))
    })
  })
}

/** Variables of a member that serves directly. */
const direct: Env = {
  ...memberEnv(makeKeys(), makeKeys()),
  CT_CHANNEL_ROLE: 'accept',
  CT_CHANNEL_ADDR: '127.0.0.1:0',
  CT_CHANNEL_SERVE: '1',
}

describe.concurrent('a seller whose settings cannot be meant', SLOW, () => {
  const words = { 'ct-agent serve': ['serve', '--listen', '127.0.0.1:0'], 'ct-agent channel': ['channel'] } as const

  for (const way of WAYS) {
    it(`does not start ${way} when the offer allows none of the services, and says so`, async ({ stage }) => {
      for (const declared of ['', 'code_generation']) {
        const { status, stdout, stderr } = await stage.finish(words[way], {
          env: {
            ...direct,
            ...stateOf(stage, 'seller'),
            ...SELLING,
            CT_AGENT_OFFER_SERVICES: declared,
            CT_AGENT_SERVICES: 'static_analysis',
          },
        })
        expect([status, stdout]).toEqual([way === 'ct-agent serve' ? 2 : 1, ''])
        expect(stderr.split('\n')).toContain(REFUSING)
        expect(stderr).toContain('no service is left to serve')
        expect(stderr).toContain(declared === '' ? 'declares no service' : 'code_generation')
      }
    })

    it(`does not start ${way} with mistakes in card and offer, and names them all`, async ({ stage }) => {
      const { status, stderr } = await stage.finish(words[way], {
        env: {
          ...direct,
          ...stateOf(stage, 'seller'),
          ...SELLING,
          CT_AGENT_CARD_TTL_SECS: 'a day',
          CT_AGENT_OFFER_KIND: 'gpu',
          CT_AGENT_OFFER_UNITS: '0',
          CT_AGENT_OFFER_CURRENCY: '',
        },
      })
      expect(status).toBe(way === 'ct-agent serve' ? 2 : 1)
      for (const name of ['CARD_TTL_SECS', 'OFFER_KIND', 'OFFER_UNITS', 'OFFER_CURRENCY']) {
        expect(stderr).toContain(`CT_AGENT_${name} `)
      }
    })
  }
})

describe('a seller whose disk is full', SLOW, () => {
  it.skipIf(!canMount())(
    'gives no match that it cannot keep, but a reference, and sells when there is room (skipped where nothing can be mounted)',
    async ({ stage }) => {
      mkdirSync(stage.path('seller'), { mode: 0o700 })
      const disk = new SmallDisk(stage.path('seller'))
      stage.onClose(() => disk.unmount())
      const market = new Market(stage, 'ct-agent channel')
      const { agent, connect } = await market.start({ CT_AGENT_OFFER_UNITS: '100000', CT_AGENT_OFFER_MAX_BIDS: '9999' })
      const peer = await connect()
      await fetchOffer(peer)
      disk.fill()
      let answer = ''
      let issued = 0
      let bid = market.bid()
      while (!answer.includes('"error"') && issued < 1_000) {
        issued += 1
        bid = market.bid({ issuedAt: u64(issued) })
        answer = await submit(peer, bid)
      }
      expect(JSON.parse(answer)).toMatchObject({
        error: { code: -32603, message: expect.stringMatching(/^internal error, reference \w+$/) },
      })
      const [, reference = ''] = /reference (\w+)/.exec(answer) ?? []
      await agent.says(new RegExp(`"${reference}".*disk is full`))
      expect(JSON.parse(await peer.ask('tools/call', { name: 'ping' }))).toMatchObject({ result: { reply: 'pong' } })
      disk.free()
      expect(await submit(peer, bid)).toContain('match_ref')
    },
  )
})
