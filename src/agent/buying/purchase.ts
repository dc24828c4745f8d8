/**
 * Buying: one bid against an offer that was examined, and the match that must follow from both.
 *
 * @module
 */
import { type Sealed, type Verified } from '../../core/artefact.ts'
import { CtError } from '../../core/errors.ts'
import { toJsonValue } from '../../core/exact-json.ts'
import { isJsonObject } from '../../core/json.ts'
import { memberText } from '../../core/json-scan.ts'
import { printable } from '../../core/printable.ts'
import { type Answer, resultOf, resultTextOf } from '../../mcp/index.ts'
import {
  bidJson,
  type CapacityBid,
  type CapacityMatch,
  type CapacityOffer,
  describeService,
  isSameMatch,
  matchOf,
  parseMatch,
} from '../../offers/index.ts'
import { type Caller } from '../calling/caller.ts'
import { MODERN } from '../calling/tool-list.ts'
import { type Examination } from './offer-examination.ts'

export interface Purchase {
  readonly match: CapacityMatch
  /** The offer that the match follows from, with the terms of the one that was examined. */
  readonly offer: Sealed<CapacityOffer>
}

/**
 * Submits the bid. The seller may have signed its offer anew meanwhile: then the match follows from that one, which must
 * say the same.
 *
 * @param examine what is wrong with an offer that the peer shows
 * @throws {CtError} `ERR_MATCH_INVALID`, or what the seller refused it with
 */
export async function buy(
  caller: Caller,
  offer: Sealed<CapacityOffer>,
  bid: Verified<CapacityBid>,
  examine: (offer: string) => Examination,
): Promise<Purchase> {
  const params = { ...MODERN, name: 'auction/bid', arguments: { bid: toJsonValue(bidJson(bid)) } }
  const match = parseMatch(valueText(await caller.call('tools/call', params)))
  if (isSameMatch(match, matchOf(offer.body, bid.body))) return { match, offer }
  const renewed = examine(resultTextOf(await caller.call('tools/call', { name: 'auction/offer' })))
  const [finding] = renewed.findings
  if (finding !== undefined) throw finding
  const expected = matchOf(renewed.offer.body, bid.body)
  if (!isSameMatch(match, expected)) {
    throw new CtError(
      'ERR_MATCH_INVALID',
      `expected match_ref ${expected.matchRef} over the offer and the bid, found ${match.matchRef}`,
    )
  }
  if (termsOf(renewed.offer.body) !== termsOf(offer.body)) {
    throw new CtError('ERR_MATCH_INVALID', 'the match follows from another offer than the one that was examined')
  }
  return { match, offer: renewed.offer }
}

/** All that a buyer agrees to; not how many units are left, nor until when. */
function termsOf({ holder, kind, models, minPrice, currency, services }: CapacityOffer): string {
  const declared = services.map(describeService)
  return JSON.stringify([holder, kind, models, minPrice.toString(), currency, declared])
}

/** The tool's own value, from peers that wrap it and from those that do not. Throws the tool's error with its reason. */
function valueText(answer: Answer): string {
  const result = resultOf(answer)
  const whole = resultTextOf(answer)
  if (!isJsonObject(result)) return whole
  const { isError, structuredContent } = result
  if (isError !== true) return memberText(whole, 0, 'structuredContent') ?? whole
  const { message, reason } = isJsonObject(structuredContent) ? structuredContent : {}
  const shown = (value: unknown): string => (typeof value === 'string' ? printable(value, MAX_CHARS) : 'not said')
  throw new CtError('ERR_TOOL_FAILED', `the peer refused the bid: ${shown(message)} (reason: ${shown(reason)})`, {
    detail: { reason: shown(reason) },
  })
}

const MAX_CHARS = 300
