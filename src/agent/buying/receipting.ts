/**
 * The consumer's side of a usage receipt: drafted after a call, signed by both over the channel.
 *
 * @module
 */
import { type OpenOptions, seal } from '../../core/artefact.ts'
import { CtError, toCtError } from '../../core/errors.ts'
import { toJsonValue, writeExactJson } from '../../core/exact-json.ts'
import { type JsonObject } from '../../core/json.ts'
import { type HolderKey } from '../../core/keys.ts'
import { parseU64, type U64, type UnixSeconds } from '../../core/u64.ts'
import { resultTextOf } from '../../mcp/index.ts'
import {
  type CapacityMatch,
  checkReceipt,
  hashOfText,
  parseMatch,
  parseReceipt,
  receiptJson,
  type SignedReceipt,
  USAGE_RECEIPT,
  type UsageReceipt,
} from '../../offers/index.ts'
import { type Caller } from '../calling/caller.ts'
import { type Ends } from '../calling/peer-call.ts'
import { type Context } from '../command.ts'
import { fromFile, readText } from '../input.ts'
import { RECEIPT_METHOD } from '../serving/market.ts'

interface ServedCall {
  readonly input: string
  readonly output: string
  readonly units: U64
}

/** The receipt with the consumer's signature alone. */
function draftReceipt(
  match: CapacityMatch,
  { input, output, units }: ServedCall,
  self: HolderKey,
  now: UnixSeconds,
): SignedReceipt {
  const { provider, consumer, kind, model, matchRef } = match
  const body: UsageReceipt = {
    provider,
    consumer,
    kind,
    model,
    unitsConsumed: units,
    matchRef,
    issuedAt: now,
    requestHash: hashOfText(input),
    responseHash: hashOfText(output),
  }
  return { body, signatures: { consumer: seal(USAGE_RECEIPT, body, self.secret).signature } }
}

/**
 * Has the provider sign the draft.
 *
 * @throws {CtError} what the provider refused it with; `ERR_SIGNATURE_INVALID` or `ERR_PROTOCOL` for an answer that is
 * not this receipt with both signatures
 */
async function completeReceipt(
  caller: Caller,
  draft: SignedReceipt,
  options: Omit<OpenOptions, 'signer'>,
): Promise<SignedReceipt> {
  const answer = await caller.call(RECEIPT_METHOD, { receipt: toJsonValue(receiptJson(draft)) })
  const signed = parseReceipt(resultTextOf(answer))
  if (writeExactJson(receiptJson({ ...signed, signatures: draft.signatures })) !== writeExactJson(receiptJson(draft))) {
    throw new CtError('ERR_PROTOCOL', 'expected the receipt that was sent, found another')
  }
  checkReceipt(signed, ['provider', 'consumer'], options)
  return signed
}

/** What somebody wants who calls with `--receipt`. */
export interface ReceiptWish {
  /** Where the receipt goes. */
  readonly file: string
  readonly match: CapacityMatch
  readonly units: U64
  readonly input: string
}

/** @throws {CtError} `ERR_USAGE` */
export async function readReceiptWish(
  { values }: Pick<Context, 'values'>,
  args: JsonObject | undefined,
): Promise<ReceiptWish | undefined> {
  const file = values.get('receipt')
  const matchFile = values.get('match')
  const givenUnits = values.get('units')
  if (file === undefined) {
    const extra = matchFile === undefined ? givenUnits && '--units' : '--match'
    if (extra !== undefined) throw new CtError('ERR_USAGE', `expected --receipt with ${extra}, found none`)
    return undefined
  }
  if (matchFile === undefined) throw new CtError('ERR_USAGE', 'expected --match <file> with --receipt, found none')
  const input = args?.['input']
  if (typeof input !== 'string') throw new CtError('ERR_USAGE', 'expected a text `input`, which a receipt is about')
  const match = parseMatch(await fromFile(matchFile, (source) => readText(source, matchFile)))
  const units = parseU64(givenUnits ?? '1')
  if ('problem' in units) throw new CtError('ERR_USAGE', `--units: ${units.problem}`)
  if (units.value === 0n || units.value > match.units) {
    throw new CtError('ERR_USAGE', `--units: expected 1 to ${match.units}, found ${units.value}`)
  }
  return { file, match, units: units.value, input }
}

export interface ReceiptOutcome {
  readonly receipt: SignedReceipt
  /** Why the provider's signature is missing. */
  readonly problem: CtError | undefined
}

/** Refuses, before anything is called, a match of others. @throws {CtError} `ERR_USAGE` */
export function refuseForeignMatch({ match }: ReceiptWish, { peer, self }: Ends): void {
  if (match.provider !== peer)
    throw new CtError('ERR_USAGE', `expected a match with ${peer}, found one with ${match.provider}`)
  if (match.consumer !== self.id)
    throw new CtError('ERR_USAGE', `expected a match of ${self.id}, found one of ${match.consumer}`)
}

/** The receipt for the call, as far as it could be signed: the call itself is done, whatever comes of it. */
export async function obtainReceipt(
  caller: Caller,
  wish: ReceiptWish,
  output: string,
  self: HolderKey,
  options: Omit<OpenOptions, 'signer'>,
): Promise<ReceiptOutcome> {
  const draft = draftReceipt(wish.match, { ...wish, output }, self, options.now)
  try {
    return { receipt: await completeReceipt(caller, draft, options), problem: undefined }
  } catch (error) {
    return { receipt: draft, problem: toCtError(error) }
  }
}
