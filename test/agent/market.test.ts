import { describe, expect, it } from 'vitest'
import { hideLocalErrors } from '../../src/agent/serving/local-errors.ts'
import { openMarket, RECEIPT_METHOD } from '../../src/agent/serving/market.ts'
import { CtError, isCtError } from '../../src/core/errors.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { type Log } from '../../src/core/log.ts'
import { systemClock } from '../../src/core/time.ts'
import { u64, unixSeconds } from '../../src/core/u64.ts'
import { type Tool } from '../../src/mcp/index.ts'
import { bidJson, type CapacityBid } from '../../src/offers/bid.ts'
import { parseMatch } from '../../src/offers/clearing.ts'
import { hashOfText, receiptJson, USAGE_RECEIPT } from '../../src/offers/receipt.ts'
import { signedBy } from '../core/forged.ts'
import { bidOf, bookFile } from '../offers/selling.ts'
import { config } from '../offers/settings.ts'
import { buyer, keyOf, stranger } from '../offers/signed.ts'
import { silentLog } from '../silent-log.ts'

const holder = keyOf(0x51)
const now = unixSeconds(systemClock)

async function open(log: Partial<Log> = {}) {
  const services = ['safety_check', 'static_analysis'].map((name) => ({ name, slug: name }))
  const plan = {
    services: {
      way: { mode: 'spawn', command: '' } as const,
      limits: { memoryBytes: undefined, cpuSeconds: undefined, openFiles: undefined, noNetwork: false },
      schemas: new Map(),
      services,
      timeoutSeconds: 1,
      concurrency: 1,
      queue: 1,
      maxOutputBytes: 1,
      notices: [],
    },
    card: undefined,
    offer: config,
    skewSeconds: 60,
    refusal: undefined,
    notices: [],
  }
  return openMarket(plan, {
    holder,
    clock: systemClock,
    log: { ...silentLog, ...log },
    stateDir: bookFile().slice(0, -'/sales.db'.length),
  })
}

type Market = Awaited<ReturnType<typeof open>>

const echo = (name: string): Tool => ({
  name,
  description: '',
  inputSchema: { type: 'object', properties: {} },
  idempotent: false,
  call: (args) => ({ output: (args as { input: string }).input }),
})

function contextOf(peer: HolderId, text: string) {
  return { peer, argumentsText: text, paramsText: text } as Parameters<Tool['call']>[1] & {
    readonly paramsText: string
  }
}

async function buy(market: Market, service?: 'SafetyCheck', changes: Partial<CapacityBid> = {}) {
  const life = { issuedAt: now, expiresAt: u64(now + 60n) }
  const bid = bidOf({ ...life, ...(service === undefined ? {} : { service }), ...changes })
  const tool = market.tools.find(({ name }) => name === 'auction/bid')
  const match = await tool?.call({}, contextOf(buyer.id, writeExactJson({ bid: bidJson(bid) })))
  return parseMatch(JSON.stringify(match))
}

async function serve(market: Market, input: string, peer = buyer.id, tool = 'service/safety_check') {
  return market.noting(echo(tool)).call({ input }, contextOf(peer, ''))
}

/** The reason why there is no receipt, if there is none. */
async function ask(market: Market, match: Awaited<ReturnType<typeof buy>>, input: string): Promise<unknown> {
  const { provider, consumer, kind, model, matchRef } = match
  const hash = hashOfText(input)
  const terms = { provider, consumer, kind, model, matchRef, requestHash: hash, responseHash: hash }
  const body = { ...terms, unitsConsumed: u64(1), issuedAt: now }
  const { signature } = signedBy(buyer.secret, USAGE_RECEIPT, body)
  const text = writeExactJson({ receipt: receiptJson({ body, signatures: { consumer: signature } }) })
  try {
    await market.methods.get(RECEIPT_METHOD)?.(undefined, contextOf(buyer.id, text))
    return undefined
  } catch (error) {
    if (isCtError(error)) return error.detail['reason']
    throw error
  }
}

describe('what is served', () => {
  it('gets a receipt for whoever bought before, and for nobody else', async () => {
    const market = await open()
    await serve(market, 'too early')
    const match = await buy(market)
    await serve(market, 'in time')
    await serve(market, 'to another', stranger.id)
    expect(await ask(market, match, 'too early')).toBe('unknown_call')
    expect(await ask(market, match, 'to another')).toBe('unknown_call')
    expect(await ask(market, match, 'in time')).toBeUndefined()
    market.close()
  })

  it('gets a receipt only under a match for that service', async () => {
    const market = await open()
    const match = await buy(market, 'SafetyCheck')
    await serve(market, 'other', buyer.id, 'service/static_analysis')
    expect(await ask(market, match, 'other')).toBe('match_differs')
    await serve(market, 'same')
    expect(await ask(market, match, 'same')).toBeUndefined()
    market.close()
  })

  it('is served all the same when it has no hash, or the book cannot be read', async () => {
    const market = await open()
    const match = await buy(market)
    expect(await serve(market, '\ud800')).toEqual({ output: '\ud800' })
    expect(await ask(market, match, '\ufffd')).toBe('unknown_call')
    market.close()
    expect(await serve(market, 'x')).toEqual({ output: 'x' })
  })
})

describe('the log of a seller', () => {
  it('has what is sold, once, what is refused, and the receipts, by short names', async () => {
    const events: unknown[] = []
    const market = await open({ info: (event, facts) => events.push([event, facts]) })
    const peer = buyer.id.slice(0, 10)
    const match = await buy(market)
    expect(await buy(market)).toEqual(match)
    const refused = buy(market, undefined, { units: u64(100_000) })
    await expect(refused).rejects.toThrow('does not clear')
    await serve(market, 'x')
    await ask(market, match, 'x')
    await ask(market, match, 'y')
    const name = match.matchRef.slice(0, 10)
    expect(events).toEqual([
      ['auction.sold', { peer, match: name, units: '200', price: '150' }],
      ['auction.refused', { peer, code: 'ERR_TOOL_FAILED', reason: 'too_many_units' }],
      ['receipt.signed', { peer, match: name, units: '1' }],
      ['receipt.refused', { peer, code: expect.stringMatching(/^ERR_/), reason: 'unknown_call' }],
    ])
    market.close()
  })
})

describe('hideLocalErrors', () => {
  it('lets pass what concerns the peer, and makes of the rest what is only logged', () => {
    const failing = (code: 'ERR_PEER_BUSY' | 'ERR_STATE_UNAVAILABLE') => () =>
      hideLocalErrors(() => {
        throw new CtError(code, 'why')
      })
    expect(failing('ERR_PEER_BUSY')).toThrow(expect.objectContaining({ code: 'ERR_PEER_BUSY' }))
    expect(failing('ERR_STATE_UNAVAILABLE')).toThrow(expect.not.objectContaining({ code: expect.anything() }))
    expect(failing('ERR_STATE_UNAVAILABLE')).toThrow('ERR_STATE_UNAVAILABLE: why')
    expect(hideLocalErrors(() => 7)).toBe(7)
  })
})
