/**
 * What the holder signs while it serves: its card, its offer, and receipts for what it served.
 *
 * @module
 */
import { type AgentCard, type CardConfig, cardOf, sealCard } from '../../cards/index.ts'
import { isFresh, type Verified } from '../../core/artefact.ts'
import { parseExactJson, toJsonValue } from '../../core/exact-json.ts'
import { isJsonObject } from '../../core/json.ts'
import { isExactObject, own } from '../../core/json-shape.ts'
import { type HolderKey } from '../../core/keys.ts'
import { type Clock } from '../../core/time.ts'
import { type UnixSeconds, unixSeconds } from '../../core/u64.ts'
import { type ExtensionMethod, type ExtensionMethods, type Tool } from '../../mcp/index.ts'
import {
  type CountersignDeps,
  countersign,
  createSeller,
  createServedCalls,
  hashOfText,
  openBook,
  readReceipt,
  receiptJson,
  type ServedCalls,
} from '../../offers/index.ts'
import { type ServingPlan } from './serving-plan.ts'
import { auctionTools, cardTool } from './signed-tools.ts'

export interface MarketDeps {
  readonly holder: HolderKey
  readonly clock: Clock
  readonly stateDir: string
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
export async function openMarket({ card, offer, skewSeconds }: ServingPlan, deps: MarketDeps): Promise<Market> {
  const { holder, clock, stateDir } = deps
  const cardTools = card === undefined ? [] : [cardTool(createCardSource(card, deps), holder)]
  if (offer === undefined) return { tools: cardTools, methods: new Map(), noting: (tool) => tool, close: () => {} }
  const book = await openBook(bookPath(stateDir, holder))
  const seller = createSeller(offer, { book, holder, clock, skewSeconds })
  const served = createServedCalls()
  return {
    tools: [...cardTools, ...auctionTools(seller)],
    methods: receiptMethod({ book, holder, served, clock, skewSeconds }),
    noting: (tool) => notingTool(tool, served),
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

function receiptMethod(deps: CountersignDeps): ExtensionMethods {
  return new Map<string, ExtensionMethod>([
    [
      RECEIPT_METHOD,
      (
        _: unknown,
        { paramsText, peer }: { readonly paramsText: string; readonly peer: Parameters<typeof countersign>[1] },
      ) => {
        const params = parseExactJson(paramsText, 'params')
        const draft = readReceipt(isExactObject(params) ? own(params, 'receipt') : undefined, 'receipt')
        return toJsonValue(receiptJson(countersign(draft, peer, deps)))
      },
    ],
  ])
}

function notingTool(tool: Tool, served: ServedCalls): Tool {
  return {
    ...tool,
    call: async (args, context) => {
      const result = await tool.call(args, context)
      const input = isJsonObject(args) ? args['input'] : undefined
      const output = isJsonObject(result) ? result['output'] : undefined
      if (typeof input === 'string' && typeof output === 'string') {
        served.note(context.peer, hashOfText(input), hashOfText(output))
      }
      return result
    },
  }
}
