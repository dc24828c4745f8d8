/**
 * What the holder signs while it serves: its card, its offer, and receipts for what it served.
 *
 * @module
 */
import { type AgentCard, type CardConfig, cardOf, sealCard } from '../../cards/index.ts'
import { isFresh, type Verified } from '../../core/artefact.ts'
import { toJsonValue } from '../../core/exact-json.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { isJsonObject } from '../../core/json.ts'
import { type HolderKey } from '../../core/keys.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { type UnixSeconds, unixSeconds } from '../../core/u64.ts'
import { type ExtensionMethod, type ExtensionMethods, type Tool } from '../../mcp/index.ts'
import {
  type CapacityMatch,
  createCountersign,
  createSeller,
  createServedCalls,
  hashOfText,
  openBook,
  receiptJson,
  type SalesBook,
  type ServedCalls,
  serviceKindOf,
  serviceText,
} from '../../offers/index.ts'
import { loggingRefusal } from './refusal-log.ts'
import { type ServingPlan } from './serving-plan.ts'
import { auctionTools, cardTool } from './signed-tools.ts'

export interface MarketDeps {
  readonly holder: HolderKey
  readonly clock: Clock
  readonly stateDir: string
  /** Has what is sold, refused and signed. */
  readonly log: Pick<Log, 'info' | 'debug'>
}

export interface Market {
  readonly tools: readonly Tool[]
  readonly methods: ExtensionMethods
  /** The tool, noting what it served, for receipts. */
  readonly noting: (tool: Tool) => Tool
  readonly close: () => void
}

/** The name of the method that countersigns a receipt. It is no tool: a peer's model has no use for it. */
export const RECEIPT_METHOD = 'ct-agent/receipt'

/** @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export async function openMarket(plan: ServingPlan, deps: MarketDeps): Promise<Market> {
  const { card, offer, skewSeconds } = plan
  const { holder, clock, stateDir, log } = deps
  const cardTools = card === undefined ? [] : [cardTool(createCardSource(card, deps), holder)]
  if (offer === undefined) return { tools: cardTools, methods: new Map(), noting: (tool) => tool, close: () => {} }
  const book = await openBook(bookPath(stateDir, holder))
  const seller = createSeller(offer, { book, holder, clock, skewSeconds, onSale: (match) => logSale(log, match) })
  const served = createServedCalls()
  const services = servicesByTool(plan)
  return {
    tools: [...cardTools, ...auctionTools(seller, log)],
    methods: receiptMethod(createCountersign({ book, holder, served, clock, skewSeconds }), log),
    noting: (tool) => {
      const service = services.get(tool.name)
      return service === undefined ? tool : notingTool(tool, service, { served, book })
    },
    close: () => book.close(),
  }
}

/** Where a holder's book of sales is. */
export function bookPath(stateDir: string, { id }: Pick<HolderKey, 'id'>): string {
  return `${stateDir}/sales-${id}.db`
}

/** The card that stands: signed once, and anew in good time. */
function createCardSource(config: CardConfig, { holder, clock }: MarketDeps): () => Verified<AgentCard> {
  const sign = (now: UnixSeconds): Verified<AgentCard> => sealCard(cardOf(config, holder.id, now), holder.secret)
  let card = sign(unixSeconds(clock))
  return () => {
    const now = unixSeconds(clock)
    if (!isFresh(card.body, now)) card = sign(now)
    return card
  }
}

function receiptMethod(countersign: ReturnType<typeof createCountersign>, log: MarketDeps['log']): ExtensionMethods {
  const method: ExtensionMethod = (_, { paramsText, peer }) =>
    loggingRefusal(log, 'receipt.refused', peer, () => {
      const receipt = countersign(paramsText, peer)
      const { matchRef, unitsConsumed } = receipt.body
      log.info('receipt.signed', { peer: shortId(peer), match: shortId(matchRef), units: unitsConsumed.toString() })
      return toJsonValue(receiptJson(receipt))
    })
  return new Map([[RECEIPT_METHOD, method]])
}

function logSale(log: MarketDeps['log'], { consumer, matchRef, units, totalPrice }: CapacityMatch): void {
  log.info('auction.sold', {
    peer: shortId(consumer),
    match: shortId(matchRef),
    units: units.toString(),
    price: totalPrice.toString(),
  })
}

/** The kind of service behind each tool, as text. */
function servicesByTool({ services }: ServingPlan): ReadonlyMap<string, string> {
  const named = (services?.services ?? []).map(
    ({ name, slug }) => [`service/${slug}`, serviceText(serviceKindOf(name))] as const,
  )
  return new Map(named)
}

interface Notes {
  readonly served: ServedCalls
  readonly book: SalesBook
}

function notingTool(tool: Tool, service: string, { served, book }: Notes): Tool {
  const isBuyer = (peer: HolderId): boolean => {
    try {
      return served.knows(peer) || book.read((page) => page.hasBuyer(peer))
    } catch {
      // The call is done: its answer must not be lost over what a receipt would need.
      return false
    }
  }
  return {
    ...tool,
    call: async (args, context) => {
      const result = await tool.call(args, context)
      const input = isJsonObject(args) ? args['input'] : undefined
      const output = isJsonObject(result) ? result['output'] : undefined
      // Without a match there is nothing to give a receipt for, and without valid Unicode there is no hash.
      if (isHashable(input) && isHashable(output) && isBuyer(context.peer)) {
        served.note(context.peer, { request: hashOfText(input), response: hashOfText(output) }, service)
      }
      return result
    },
  }
}

function isHashable(text: unknown): text is string {
  return typeof text === 'string' && text.isWellFormed()
}
