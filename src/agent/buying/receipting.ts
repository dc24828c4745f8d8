/**
 * The consumer's side of a usage receipt: drafted after a call, signed by both over the channel.
 *
 * @module
 */
import { seal } from '../../core/artefact.ts'
import { quote } from '../../core/env.ts'
import { CtError, toCtError } from '../../core/errors.ts'
import { toJsonValue, writeExactJson } from '../../core/exact-json.ts'
import { type JsonObject } from '../../core/json.ts'
import { generateInstanceId, type HolderKey } from '../../core/keys.ts'
import { parseU64, type U64, type UnixSeconds } from '../../core/u64.ts'
import { resultTextOf } from '../../mcp/index.ts'
import {
  type CapacityMatch,
  type Consumption,
  checkReceipt,
  parseMatch,
  parseReceipt,
  receiptJson,
  receiptOf,
  type SignedReceipt,
  USAGE_RECEIPT,
} from '../../offers/index.ts'
import { type CheckOptions } from '../artefacts/artefact-reading.ts'
import { readOnly } from '../artefacts/document-source.ts'
import { type Caller } from '../calling/caller.ts'
import { type Ends } from '../calling/peer-call.ts'
import { type Context } from '../command.ts'
import { type Io } from '../io.ts'
import { refuseUnwritable, writeOutput } from '../output.ts'
import { printResult } from '../result.ts'
import { RECEIPT_METHOD } from '../serving/market.ts'

/** The receipt with the consumer's signature alone. */
function draftReceipt(
  match: CapacityMatch,
  consumption: Consumption,
  self: HolderKey,
  now: UnixSeconds,
): SignedReceipt {
  const body = receiptOf(match, consumption, now)
  return { body, signatures: { consumer: seal(USAGE_RECEIPT, body, self.secret).signature } }
}

/**
 * Has the provider sign the draft.
 *
 * @throws {CtError} `ERR_RECEIPT_UNSIGNED` when no answer came, what the provider refused it with,
 * `ERR_SIGNATURE_INVALID` or `ERR_PROTOCOL` for an answer that is not this receipt with both signatures
 */
async function completeReceipt(
  caller: Caller,
  draft: SignedReceipt,
  signal: AbortSignal,
  options: CheckOptions,
): Promise<SignedReceipt> {
  const answer = await caller
    .call(RECEIPT_METHOD, { receipt: toJsonValue(receiptJson(draft)) })
    .catch((error: unknown) => {
      throw unanswered(toCtError(error), signal)
    })
  const signed = parseReceipt(resultTextOf(answer))
  if (writeExactJson(receiptJson({ ...signed, signatures: draft.signatures })) !== writeExactJson(receiptJson(draft))) {
    throw new CtError('ERR_PROTOCOL', 'expected the receipt that was sent, found another')
  }
  checkReceipt(signed, ['provider', 'consumer'], options)
  return signed
}

/** The codes of a call without an answer speak of that call; here the call that matters is done. */
function unanswered(error: CtError, signal: AbortSignal): CtError {
  const why = signal.aborted
    ? `${toCtError(signal.reason).message} while its signature was awaited`
    : `no answer came (${error.code}: ${error.message})`
  return new CtError('ERR_RECEIPT_UNSIGNED', why, { cause: error })
}

/** What somebody wants who calls with `--receipt`. */
export interface ReceiptWish {
  /** Where the receipt goes; `-` for stdout. */
  readonly file: string
  readonly match: CapacityMatch
  readonly units: U64
  readonly input: string
}

/**
 * Refuses what there can be no receipt of, or no place for, before anything is called.
 *
 * @throws {CtError} `ERR_USAGE`; `ERR_ARTEFACT_INVALID` for a match that cannot be read
 */
export async function readReceiptWish(
  { io, values }: Pick<Context, 'io' | 'values'>,
  tool: string,
  args: JsonObject | undefined,
): Promise<ReceiptWish | undefined> {
  const file = values.get('receipt')
  const matchFile = values.get('match')
  if (file === undefined) return undefined
  if (matchFile === undefined) throw new CtError('ERR_USAGE', 'expected --match with --receipt, found none')
  if (!tool.startsWith(SERVICE_PREFIX)) {
    throw new CtError('ERR_USAGE', `expected ${SERVICE_PREFIX}… with --receipt, found ${quote(tool)}`)
  }
  const input = args?.['input']
  if (typeof input !== 'string' || !input.isWellFormed()) {
    throw new CtError('ERR_USAGE', 'expected a text `input` of valid Unicode, which a receipt is about')
  }
  const match = await readOnly(io, matchFile, parseMatch)
  const units = parseU64(values.get('units') ?? '1')
  if ('problem' in units) throw new CtError('ERR_USAGE', `--units: ${units.problem}`)
  if (units.value === 0n || units.value > match.units) {
    throw new CtError('ERR_USAGE', `--units: expected 1 to ${match.units}, found ${units.value}`)
  }
  if (file !== STDOUT) refuseUnwritable(file, generateInstanceId())
  return { file, match, units: units.value, input }
}

const SERVICE_PREFIX = 'service/'
const STDOUT = '-'

/** Refuses, before anything is called, a match of others. @throws {CtError} `ERR_USAGE` */
export function refuseForeignMatch({ match }: ReceiptWish, { peer, self }: Ends): void {
  if (match.provider !== peer)
    throw new CtError('ERR_USAGE', `expected a match with ${peer}, found one with ${match.provider}`)
  if (match.consumer !== self.id)
    throw new CtError('ERR_USAGE', `expected a match of ${self.id}, found one of ${match.consumer}`)
}

export interface ReceiptOutcome {
  /** As far as it could be signed; `undefined` when of such an answer there is none. */
  readonly receipt: SignedReceipt | undefined
  /** Why it is not signed by both. */
  readonly problem: CtError | undefined
}

/** The receipt for the call, as far as it could be signed: the call itself is done, whatever comes of it. */
export async function obtainReceipt(
  caller: Caller,
  wish: ReceiptWish,
  output: string | undefined,
  { self, signal }: Ends,
  options: CheckOptions,
): Promise<ReceiptOutcome> {
  let receipt: SignedReceipt | undefined
  try {
    if (output === undefined) throw new CtError('ERR_PROTOCOL', 'expected {"output": text}, found something else')
    receipt = draftReceipt(wish.match, { ...wish, output }, self, options.now)
    return { receipt: await completeReceipt(caller, receipt, signal, options), problem: undefined }
  } catch (error) {
    return { receipt, problem: toCtError(error) }
  }
}

/**
 * Puts the receipt where it was wished, or at least its text into the error: it cannot be had again.
 *
 * @throws {CtError} what kept it from being signed by both, or from being written
 */
export async function keepReceipt(io: Io, { file }: ReceiptWish, { receipt, problem }: ReceiptOutcome): Promise<void> {
  if (receipt === undefined) throw unsigned(problem, 'there is no receipt for it', '')
  const text = writeExactJson(receiptJson(receipt))
  try {
    if (file === STDOUT) await printResult(io, text)
    else writeOutput(file, `${text}\n`, generateInstanceId())
  } catch (error) {
    const { code, message } = toCtError(error, 'ERR_USAGE')
    const what = problem === undefined ? 'this is its receipt' : `this is a draft of its receipt (${problem.message})`
    throw new CtError(code, `the call is done, but ${message}; ${what}:\n${text}`, { cause: error })
  }
  if (problem === undefined) return
  const where = file === STDOUT ? 'on stdout' : `in ${quote(file)}`
  throw unsigned(problem, 'its receipt has your signature alone', `; the draft is ${where}`)
}

function unsigned(problem: CtError | undefined, what: string, ending: string): CtError {
  const { code, message } = problem ?? new CtError('ERR_INTERNAL', 'no reason was given')
  return new CtError(code, `the call is done, but ${what}: ${message}${ending}`, { cause: problem })
}
