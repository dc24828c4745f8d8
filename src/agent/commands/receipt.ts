/**
 * `receipt make`, `receipt countersign`, `receipt verify`: usage receipts of a match, without a network.
 *
 * @module
 */
import { seal } from '../../core/artefact.ts'
import { type EnvProblem, quote, refuseProblems } from '../../core/env.ts'
import { CtError, toCtError } from '../../core/errors.ts'
import { type HolderKey } from '../../core/keys.ts'
import { parseU64, type U64, unixSeconds } from '../../core/u64.ts'
import {
  type CapacityMatch,
  checkReceipt,
  parseMatch,
  parseReceipt,
  receiptJson,
  receiptOf,
  type SignedReceipt,
  USAGE_RECEIPT,
} from '../../offers/index.ts'
import { verifyDocuments } from '../artefacts/check-documents.ts'
import { inSource, readOnly } from '../artefacts/document-source.ts'
import { publish } from '../artefacts/publish.ts'
import { partyOf, receiptReader, refuseOther } from '../artefacts/receipt-reading.ts'
import { readSigner, signerOf } from '../artefacts/signing-key.ts'
import { checksNow, readChecks } from '../artefacts/verify-settings.ts'
import { type Context } from '../command.ts'
import { fromFile, nameOf, readText, refuseSharedStdin } from '../input.ts'
import { type Io } from '../io.ts'

export async function receiptMake(context: Context): Promise<number> {
  const { io, env, values, clock, stateDir } = context
  const { match: matchFile, units, request, response } = needed(values, ['match', 'units', 'request', 'response'])
  refuseSharedStdin([matchFile, request, response])
  const problems: EnvProblem[] = []
  const given = readSigner(env, problems)
  refuseProblems(problems)
  const unitsConsumed = readUnits(units)
  const match = await readOnly(io, matchFile, parseMatch)
  if (unitsConsumed > match.units) {
    throw new CtError('ERR_USAGE', `--units: expected at most the ${match.units} of the match, found ${unitsConsumed}`)
  }
  const signer = signerOf(given, stateDir)
  const party = partyOf(match, signer.id)
  const input = await textOf(io, request)
  const output = await textOf(io, response)
  const body = receiptOf(match, { units: unitsConsumed, input, output }, unixSeconds(clock))
  const receipt = withSignature({ body, signatures: {} }, signer)
  checkReceipt(receipt, [party], { now: receipt.body.issuedAt })
  return publish(context, receiptJson(receipt))
}

export async function receiptCountersign(context: Context): Promise<number> {
  const { io, env, operands, values, clock, stateDir } = context
  refuseSharedStdin([operands[0] ?? '-', values.get('match') ?? ''])
  const problems: EnvProblem[] = []
  const given = readSigner(env, problems)
  const checks = readChecks(env, problems)
  refuseProblems(problems)
  const match = await givenMatch(context)
  const name = nameOf(operands[0] ?? '-')
  const draft = await readOnly(io, operands[0], parseReceipt)
  const signer = signerOf(given, stateDir)
  const party = partyOf(draft.body, signer.id)
  const other = party === 'provider' ? 'consumer' : 'provider'
  if (draft.signatures[party] !== undefined) {
    const found = `${name}: the key is that of the ${party}, who has signed already`
    throw new CtError('ERR_USAGE', draft.signatures[other] === undefined ? `${found}; the ${other} has not` : found)
  }
  try {
    checkReceipt(draft, [other], checksNow(checks, clock))
    if (match !== undefined) refuseOther(draft.body, match)
  } catch (error) {
    throw inSource(name, toCtError(error))
  }
  return publish(context, receiptJson(withSignature(draft, signer)))
}

export async function receiptVerify(context: Context): Promise<number> {
  refuseSharedStdin([context.operands[0] ?? '-', context.values.get('match') ?? ''])
  return verifyDocuments(context, receiptReader(await givenMatch(context)))
}

function withSignature({ body, signatures }: SignedReceipt, { id, secret }: HolderKey): SignedReceipt {
  const { signature } = seal(USAGE_RECEIPT, body, secret)
  return { body, signatures: { ...signatures, [partyOf(body, id)]: signature } }
}

function givenMatch({ io, values }: Context): Promise<CapacityMatch | undefined> {
  const file = values.get('match')
  return file === undefined ? Promise.resolve(undefined) : readOnly(io, file, parseMatch)
}

function textOf({ stdin }: Io, file: string): Promise<string> {
  return file === '-' ? readText(stdin, nameOf(file)) : fromFile(file, (source) => readText(source, nameOf(file)))
}

function readUnits(text: string): U64 {
  const parsed = parseU64(text)
  if ('problem' in parsed) throw new CtError('ERR_USAGE', `--units: ${parsed.problem}`)
  if (parsed.value === 0n) throw new CtError('ERR_USAGE', `--units: expected more than 0, found ${quote(text)}`)
  return parsed.value
}

function needed<const Name extends string>(
  values: Context['values'],
  names: readonly Name[],
): Readonly<Record<Name, string>> {
  const absent = names.filter((name) => !values.has(name)).map((name) => `--${name}`)
  if (absent.length > 0)
    throw new CtError('ERR_USAGE', `expected ${absent.join(', ')}; see ct-agent receipt make --help`)
  return Object.fromEntries(names.map((name) => [name, values.get(name)])) as Record<Name, string>
}
