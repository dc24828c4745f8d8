/**
 * The provider's signature under a usage receipt.
 *
 * Holds: a provider signs only for what it sold to this peer and served to it, each call once, and never for more units
 * than were matched. The same receipt gets the same signature again. What is asked in vain is limited by the peer.
 *
 * @module
 */
import { seal } from '../core/artefact.ts'
import { toHex } from '../core/bytes.ts'
import { CtError, isCtError } from '../core/errors.ts'
import { type Hash, type HolderId } from '../core/ids.ts'
import { type HolderKey, sha256, verifyMany } from '../core/keys.ts'
import { type Clock } from '../core/time.ts'
import { type UnixSeconds, unixSeconds } from '../core/u64.ts'
import { type BookPage, type BookView, type Sale, type SalesBook } from './book.ts'
import { type CapacityMatch, parseMatch } from './clearing.ts'
import { checkReceipt, readReceipt, type SignedReceipt, USAGE_RECEIPT, type UsageReceipt } from './receipt.ts'
import { readRequest } from './request.ts'
import { type ServedCall, type ServedCalls } from './served-calls.ts'
import { createTries } from './tries.ts'

export interface CountersignDeps {
  readonly book: SalesBook
  readonly holder: HolderKey
  readonly served: ServedCalls
  readonly clock: Pick<Clock, 'now'>
  readonly skewSeconds: number
}

/** So many receipts of one match are remembered. */
export const MAX_RECEIPTS_PER_MATCH = 4_096

/** Why a receipt is not signed, for programs, in the order in which it is checked. */
export const RECEIPT_REFUSALS = [
  'rate_limited',
  'not_consumer',
  'not_provider',
  'signature_invalid',
  'unknown_match',
  'match_differs',
  'before_match',
  'no_units',
  'too_many_units',
  'too_many_receipts',
  'unknown_call',
] as const

type ReceiptRefusal = (typeof RECEIPT_REFUSALS)[number]

/**
 * Gives the receipt in `{"receipt": …}` with the provider's signature.
 *
 * @param peer the authenticated caller, who must be the consumer and have signed
 * @throws {CtError} `ERR_ARTEFACT_INVALID`, or `ERR_TOOL_FAILED` with `detail.reason`
 */
export type Countersign = (paramsText: string, peer: HolderId) => SignedReceipt

export function createCountersign(deps: CountersignDeps): Countersign {
  const tries = createTries()
  return (paramsText, peer) => {
    const now = unixSeconds(deps.clock)
    if (tries.areSpent(peer, now)) throw refusal('too many were asked for in vain; ask again later', 'rate_limited')
    try {
      const draft = readReceipt(readRequest(paramsText, 'params', 'receipt'), 'receipt')
      const { receipt, isNew } = countersign(draft, peer, now, deps)
      if (!isNew) tries.note(peer, now)
      return receipt
    } catch (error) {
      if (isCtError(error, 'ERR_ARTEFACT_INVALID', 'ERR_TOOL_FAILED')) tries.note(peer, now)
      throw error
    }
  }
}

function countersign(draft: SignedReceipt, peer: HolderId, now: UnixSeconds, deps: CountersignDeps) {
  const { book, holder, served, skewSeconds } = deps
  const { body } = draft
  if (body.consumer !== peer) {
    throw refusal('the consumer is not the authenticated peer of this channel', 'not_consumer')
  }
  if (body.provider !== holder.id) throw refusal('the provider is another agent', 'not_provider')
  try {
    checkReceipt(draft, ['consumer'], { now, skewSeconds, verifier: verifyMany })
  } catch (error) {
    throw isCtError(error) ? refusal(error.message, 'signature_invalid', error) : error
  }
  const name = toHex(sha256(USAGE_RECEIPT.preimage(body, USAGE_RECEIPT.domain))) as Hash
  // Whatever refuses it does so without writing.
  const asked = book.read((page) => servicePaidFor(page, name, body, deps))
  const service = asked === undefined ? undefined : book.update((page) => write(page, name, body, deps))
  // Only now is the receipt on the disk: if that had failed, the call could still get one.
  if (service !== undefined) served.take(body.consumer, callOf(body), service)
  const { signature } = seal(USAGE_RECEIPT, body, holder.secret)
  const receipt: SignedReceipt = { body, signatures: { ...draft.signatures, provider: signature } }
  return { receipt, isNew: service !== undefined }
}

/** The service of the call that the receipt is for; `undefined` when it was booked before. */
function write(page: BookPage, name: Hash, body: UsageReceipt, deps: CountersignDeps): string | undefined {
  const service = servicePaidFor(page, name, body, deps)
  if (service !== undefined) page.addReceipt(name, body.matchRef, body.unitsConsumed)
  return service
}

/** As {@link write}, but for the writing. */
function servicePaidFor(
  page: BookView,
  name: Hash,
  body: UsageReceipt,
  { served, skewSeconds }: CountersignDeps,
): string | undefined {
  if (page.hasReceipt(name)) return undefined
  const sale = page.findByMatch(body.matchRef)
  if (sale === undefined || sale.consumer !== body.consumer) {
    throw refusal('this agent sold you nothing under that match_ref', 'unknown_match')
  }
  const match = parseMatch(sale.match)
  const called = served.servicesOf(body.consumer, callOf(body))
  const service = called.find((one) => sale.service === undefined || one === sale.service)
  if (match.kind !== body.kind || match.model !== body.model) {
    throw refusal('kind or model differ from the match', 'match_differs')
  }
  if (called.length > 0 && service === undefined) {
    throw refusal('the call was one of another service than the bid names', 'match_differs')
  }
  if (body.issuedAt + BigInt(skewSeconds) < sale.issuedAt) {
    throw refusal(`issued at ${body.issuedAt}, and the bid at ${sale.issuedAt}`, 'before_match')
  }
  refuseUnits(body, match, sale)
  if (service === undefined) {
    throw refusal('this agent remembers no such call that is still without a receipt', 'unknown_call')
  }
  return service
}

function refuseUnits({ unitsConsumed }: UsageReceipt, { units }: CapacityMatch, sale: Sale): void {
  if (unitsConsumed === 0n) throw refusal('expected at least one unit', 'no_units')
  if (sale.unitsReceipted + unitsConsumed > units) {
    const left = units - sale.unitsReceipted
    throw refusal(`expected at most ${left} units, which are left of the match`, 'too_many_units')
  }
  if (sale.receipts >= MAX_RECEIPTS_PER_MATCH) {
    throw refusal(`expected at most ${MAX_RECEIPTS_PER_MATCH} receipts for one match`, 'too_many_receipts')
  }
}

function callOf({ requestHash, responseHash }: UsageReceipt): ServedCall {
  return { request: requestHash, response: responseHash }
}

function refusal(message: string, reason: ReceiptRefusal, cause?: Error): CtError {
  return new CtError('ERR_TOOL_FAILED', `receipt refused: ${message}`, { cause, detail: { reason } })
}
