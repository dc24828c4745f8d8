/**
 * The provider's signature under a usage receipt.
 *
 * Holds: a provider signs only for what it sold to this peer and served to it, each call once, and never for more units
 * than were matched. The same receipt gets the same signature again.
 *
 * @module
 */
import { seal } from '../core/artefact.ts'
import { toHex } from '../core/bytes.ts'
import { CtError, isCtError } from '../core/errors.ts'
import { type Hash, type HolderId } from '../core/ids.ts'
import { type HolderKey, sha256, verifyMany } from '../core/keys.ts'
import { type Clock } from '../core/time.ts'
import { unixSeconds } from '../core/u64.ts'
import { type BookPage, type SalesBook } from './book.ts'
import { parseMatch } from './clearing.ts'
import { checkReceipt, type SignedReceipt, USAGE_RECEIPT, type UsageReceipt } from './receipt.ts'
import { type ServedCalls } from './served-calls.ts'

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
  'not_consumer',
  'not_provider',
  'signature_invalid',
  'unknown_match',
  'match_differs',
  'no_units',
  'too_many_units',
  'too_many_receipts',
  'unknown_call',
] as const

type ReceiptRefusal = (typeof RECEIPT_REFUSALS)[number]

/**
 * The receipt with the provider's signature.
 *
 * @param peer the authenticated caller, who must be the consumer and have signed
 * @throws {CtError} `ERR_TOOL_FAILED` with `detail.reason`
 */
export function countersign(draft: SignedReceipt, peer: HolderId, deps: CountersignDeps): SignedReceipt {
  const { book, holder, served, clock, skewSeconds } = deps
  const { body } = draft
  if (body.consumer !== peer)
    throw refusal('the consumer is not the authenticated peer of this channel', 'not_consumer')
  if (body.provider !== holder.id) throw refusal('the provider is another agent', 'not_provider')
  try {
    checkReceipt(draft, ['consumer'], { now: unixSeconds(clock), skewSeconds, verifier: verifyMany })
  } catch (error) {
    throw isCtError(error) ? refusal(error.message, 'signature_invalid', error) : error
  }
  const isNew = book.update((page) => bookReceipt(page, body, served))
  // Only now is the receipt on the disk: if that had failed, the call could still get one.
  if (isNew) served.take(body.consumer, body.requestHash, body.responseHash)
  return {
    body,
    signatures: { ...draft.signatures, provider: seal(USAGE_RECEIPT, body, holder.secret).signature },
  }
}

/** False when it was booked before. */
function bookReceipt(page: BookPage, body: UsageReceipt, served: ServedCalls): boolean {
  const name = toHex(sha256(USAGE_RECEIPT.preimage(body, USAGE_RECEIPT.domain))) as Hash
  if (page.hasReceipt(name)) return false
  const sale = page.findByMatch(body.matchRef)
  const match = sale === undefined ? undefined : parseMatch(sale.match)
  if (match === undefined || match.consumer !== body.consumer) {
    throw refusal('this agent sold you nothing under that match_ref', 'unknown_match')
  }
  if (match.kind !== body.kind || match.model !== body.model) {
    throw refusal('kind or model differ from the match', 'match_differs')
  }
  if (body.unitsConsumed === 0n) throw refusal('expected at least one unit', 'no_units')
  const receipts = page.receiptsOf(body.matchRef)
  if (receipts.units + body.unitsConsumed > match.units) {
    throw refusal(
      `expected at most ${match.units - receipts.units} units, which are left of the match`,
      'too_many_units',
    )
  }
  if (receipts.count >= MAX_RECEIPTS_PER_MATCH) {
    throw refusal(`expected at most ${MAX_RECEIPTS_PER_MATCH} receipts for one match`, 'too_many_receipts')
  }
  if (!served.has(body.consumer, body.requestHash, body.responseHash)) {
    throw refusal('this agent remembers no such call that is still without a receipt', 'unknown_call')
  }
  page.addReceipt(name, body.matchRef, body.unitsConsumed)
  return true
}

function refusal(message: string, reason: ReceiptRefusal, cause?: Error): CtError {
  return new CtError('ERR_TOOL_FAILED', `receipt refused: ${message}`, { cause, detail: { reason } })
}
