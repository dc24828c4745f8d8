/**
 * Buying: one bid against an offer that was examined, and the match that must follow from both.
 *
 * @module
 */
import { type OpenOptions, type Sealed, type Verified } from '../../core/artefact.ts'
import { CtError } from '../../core/errors.ts'
import { toJsonValue } from '../../core/exact-json.ts'
import { type HolderId } from '../../core/ids.ts'
import { isJsonObject } from '../../core/json.ts'
import { memberText } from '../../core/json-scan.ts'
import { printable } from '../../core/printable.ts'
import { type Answer, resultOf, resultTextOf } from '../../mcp/index.ts'
import {
  bidJson,
  type CapacityBid,
  type CapacityMatch,
  type CapacityOffer,
  isSameMatch,
  matchOf,
  openOffer,
  parseMatch,
  parseOffer,
} from '../../offers/index.ts'
import { type Caller } from '../calling/caller.ts'
import { MODERN } from '../calling/tool-list.ts'

/**
 * Submits the bid. The seller may have signed its offer anew meanwhile: then the match follows from that one.
 *
 * @throws {CtError} `ERR_MATCH_INVALID`, or what the seller refused it with
 */
export async function buy(
  caller: Caller,
  offer: Sealed<CapacityOffer>,
  bid: Verified<CapacityBid>,
  options: Omit<OpenOptions, 'signer'>,
): Promise<CapacityMatch> {
  const params = { ...MODERN, name: 'auction/bid', arguments: { bid: toJsonValue(bidJson(bid)) } }
  const match = parseMatch(valueText(await caller.call('tools/call', params)))
  if (isSameMatch(match, matchOf(offer.body, bid.body))) return match
  const renewed = await currentOffer(caller, offer.body.holder, options)
  if (isSameMatch(match, matchOf(renewed.body, bid.body))) return match
  throw new CtError(
    'ERR_MATCH_INVALID',
    `expected match_ref ${matchOf(renewed.body, bid.body).matchRef} over the offer and the bid, found ${match.matchRef}`,
  )
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

async function currentOffer(
  caller: Caller,
  peer: HolderId,
  options: Omit<OpenOptions, 'signer'>,
): Promise<Verified<CapacityOffer>> {
  const answer = await caller.call('tools/call', { name: 'auction/offer' })
  const offer = openOffer(parseOffer(resultTextOf(answer)), options)
  if (offer.body.holder === peer) return offer
  throw new CtError('ERR_SIGNER_MISMATCH', `the offer is one of ${offer.body.holder}, and the peer is ${peer}`)
}
