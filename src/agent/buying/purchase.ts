/**
 * Buying: one bid against an offer that was examined, and the match that must follow from both.
 *
 * Holds: a bid that does not clear is not sent, and no match is believed but the one that this side computes itself.
 *
 * @module
 */
import { type Verified } from '../../core/artefact.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type ExactJson, toJsonValue } from '../../core/exact-json.ts'
import { isJsonObject } from '../../core/json.ts'
import { memberText } from '../../core/json-scan.ts'
import { printable } from '../../core/printable.ts'
import { type Answer, resultOf, resultTextOf } from '../../mcp/index.ts'
import {
  bidJson,
  type CapacityBid,
  type CapacityMatch,
  type CapacityOffer,
  clearBid,
  describeService,
  isSameMatch,
  matchJson,
  type NoMatchReason,
  parseMatch,
} from '../../offers/index.ts'
import { type Caller } from '../calling/caller.ts'
import { MODERN } from '../calling/tool-list.ts'
import { type Examination } from './offer-examination.ts'

export interface Purchase {
  readonly match: CapacityMatch
  /** The offer that the match follows from, with the terms of the one that was examined. */
  readonly offer: Verified<CapacityOffer>
}

/**
 * Submits the bid. The seller may have signed its offer anew meanwhile: then the match follows from that one, which must
 * say the same.
 *
 * @param offers the one that stands; before it the one that the bid was made for, where it was made for another
 * @param examine what is wrong with an offer that the peer shows
 * @throws {CtError} `ERR_USAGE` for a bid that does not clear, `ERR_MATCH_INVALID`, or what the seller refused it with
 */
export async function buy(
  caller: Caller,
  offers: readonly [Verified<CapacityOffer>, ...(readonly Verified<CapacityOffer>[])],
  bid: Verified<CapacityBid>,
  examine: (offer: string) => Examination,
): Promise<Purchase> {
  const purchases: Purchase[] = []
  const reasons: NoMatchReason[] = []
  for (const offer of offers) {
    const match = clearBid(offer, bid)
    if (typeof match === 'string') reasons.push(match)
    else purchases.push({ match, offer })
  }
  const [reason] = reasons
  if (purchases.length === 0 && reason !== undefined) throw unclear(offers[0], bid, reason)
  const params = { ...MODERN, name: 'auction/bid', arguments: { bid: toJsonValue(bidJson(bid)) } }
  const match = readAnswer(valueText(await caller.call('tools/call', params)))
  const purchase = purchases.find((expected) => isSameMatch(match, expected.match))
  if (purchase !== undefined) return purchase
  const renewed = examine(resultTextOf(await caller.call('tools/call', { name: 'auction/offer' })))
  if (renewed.trusted === undefined) throw renewed.findings[0]
  const { trusted } = renewed
  const expected = clearBid(trusted, bid)
  if (typeof expected === 'string') {
    throw wrongMatch(`expected none, since the bid does not clear against the offer (${expected}), found one`)
  }
  if (!isSameMatch(match, expected)) throw wrongMatch(differenceOf(match, expected))
  if (!offers.some((offer) => termsOf(offer.body) === termsOf(trusted.body))) {
    throw wrongMatch('it follows from another offer than the one that was examined')
  }
  return { match, offer: trusted }
}

/** The bid is the buyer's own: it is that which must change. */
function unclear(
  { body: offer }: Verified<CapacityOffer>,
  { body: bid }: Verified<CapacityBid>,
  reason: NoMatchReason,
): CtError {
  const services = offer.services.map(describeService)
  const expected: Readonly<Record<NoMatchReason, string>> = {
    kind_differs: `expected kind ${offer.kind}, found ${bid.kind}`,
    model_not_offered: `expected ${oneOf(offer.models)} as the model, found ${shown(JSON.stringify(bid.model))}`,
    service_not_offered: `expected ${oneOf(services)} as the service, found ${shown(bid.service === undefined ? 'none' : describeService(bid.service))}`,
    no_units: 'expected more than 0 units, found 0',
    too_many_units: `expected at most ${offer.units} units, found ${bid.units}`,
    below_floor: `expected a price of at least ${offer.minPrice}, found ${bid.totalPrice}`,
  }
  return new CtError('ERR_USAGE', `the bid does not clear against the offer: ${expected[reason]}; nothing was sent`, {
    detail: { reason },
  })
}

function oneOf(names: readonly string[]): string {
  return names.length === 0 ? 'none' : shown(names.map((name) => JSON.stringify(name)).join('|'))
}

/** @throws {CtError} `ERR_MATCH_INVALID` for what is no match at all */
function readAnswer(answer: string): CapacityMatch {
  try {
    return parseMatch(answer)
  } catch (error) {
    if (!isCtError(error, 'ERR_ARTEFACT_INVALID')) throw error
    throw wrongMatch(`the answer is none: ${error.message}`, error)
  }
}

function wrongMatch(problem: string, cause?: CtError): CtError {
  return new CtError('ERR_MATCH_INVALID', `match: ${problem}`, { cause })
}

/** The first member in which they differ; the reference, which follows from the others, is the last. */
function differenceOf(found: CapacityMatch, expected: CapacityMatch): string {
  const [left, right] = [matchJson(found), matchJson(expected)]
  const name = Object.keys(right).find((member) => left[member] !== right[member]) ?? ''
  const text = (value: ExactJson | undefined): string => shown(String(value))
  return `expected ${name} ${text(right[name])} over the offer and the bid, found ${text(left[name])}`
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
  const said = (value: unknown): string => (typeof value === 'string' ? shown(value) : 'not said')
  throw new CtError('ERR_TOOL_FAILED', `the peer refused the bid: ${said(message)} (reason: ${said(reason)})`, {
    detail: { reason: said(reason) },
  })
}

function shown(text: string): string {
  return printable(text, MAX_CHARS)
}

const MAX_CHARS = 300
