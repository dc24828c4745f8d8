/**
 * `ct-agent offer fetch`: what a peer sells, examined; and with `--bid`, bought.
 *
 * @module
 */

import { cardJson } from '../../cards/index.ts'
import { type OpenOptions, type Sealed, seal, type Verified } from '../../core/artefact.ts'
import { type Env, type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError, toCtError } from '../../core/errors.ts'
import { type ExactObject, writeExactJson } from '../../core/exact-json.ts'
import { generateInstanceId, type HolderKey } from '../../core/keys.ts'
import { escapeUnprintable } from '../../core/printable.ts'
import { type UnixSeconds, unixSeconds } from '../../core/u64.ts'
import { resultTextOf } from '../../mcp/index.ts'
import {
  bidJson,
  bidOf,
  CAPACITY_BID,
  type CapacityBid,
  type CapacityOffer,
  matchJson,
  offerJson,
  openBid,
  parseBid,
  readBidConfig,
} from '../../offers/index.ts'
import { documentsOf, onlyDocument } from '../artefacts/document-source.ts'
import { VERIFY_ENV } from '../artefacts/verify-settings.ts'
import { type Examination, examine, type Shown } from '../buying/offer-examination.ts'
import { type Report, reportJson, reportText } from '../buying/offer-report.ts'
import { buy } from '../buying/purchase.ts'
import { type Caller } from '../calling/caller.ts'
import { type Ends, withPeer } from '../calling/peer-call.ts'
import { takeTicket } from '../calling/ticket-source.ts'
import { listTools } from '../calling/tool-list.ts'
import { type Context } from '../command.ts'
import { makeOutputFolder, writeOutput } from '../output.ts'
import { printResult } from '../result.ts'

export async function offerFetch(context: Context): Promise<number> {
  const { io, env, clock, switches, values } = context
  const problems: EnvProblem[] = []
  const { acceptLegacy, skewSeconds } = readEnv(VERIFY_ENV, env, problems)
  const bidFile = values.get('submit')
  const bids = switches.has('bid')
  if (bids && bidFile !== undefined) throw new CtError('ERR_USAGE', 'expected --bid or --submit, found both')
  // What the offer says is not known yet; what can be wrong without it is said before anybody is asked.
  if (bids) readBidConfig(env, problems, ANY_OFFER)
  refuseProblems(problems)
  const given = bidFile === undefined ? undefined : parseBid(await onlyDocument(documentsOf(io, bidFile)))
  const { ticket } = await takeTicket(context, 0)
  const options = (): Omit<OpenOptions, 'signer'> => ({ now: unixSeconds(clock), acceptLegacy, skewSeconds })
  const makeBid: MakeBid | undefined =
    given !== undefined
      ? (_, self) => openOwnBid(given, self, options())
      : bids
        ? (offer, self) => signBid(env, offer, self, options().now)
        : undefined
  const keep = keeperIn(values.get('save'))
  const report = await withPeer(context, ticket, (caller, ends) => visit(caller, ends, { makeBid, options, keep }))
  const text = switches.has('json')
    ? escapeUnprintable(writeExactJson(reportJson(report)))
    : reportText(report, unixSeconds(clock))
  await printResult(io, text)
  if (report.match !== undefined) {
    keep('offer', offerJson(report.offer))
    keep('match', matchJson(report.match))
  }
  const problem = report.findings[0] ?? report.failure
  if (problem !== undefined) throw problem
  return 0
}

const ANY_OFFER = { kind: 'LocalHardware', model: 'any' } as const

type MakeBid = (offer: CapacityOffer, self: HolderKey) => Verified<CapacityBid>
type Keep = (name: string, json: ExactObject) => void

interface Visit {
  readonly makeBid: MakeBid | undefined
  readonly options: () => Omit<OpenOptions, 'signer'>
  readonly keep: Keep
}

/** All in one session: nothing of it can be another peer's. What is signed is kept before it is sent. */
async function visit(caller: Caller, { peer, self }: Ends, { makeBid, options, keep }: Visit): Promise<Report> {
  const shown = await look(caller)
  const examination = examine(shown, peer, options())
  const { offer, card, findings } = examination
  const report = { ...examination, peer, tools: shown.tools, bid: undefined, match: undefined }
  keep('offer', offerJson(offer))
  if (card !== undefined) keep('card', cardJson(card))
  if (makeBid === undefined || findings.length > 0) return report
  const bid = makeBid(offer.body, self)
  keep('bid', bidJson(bid))
  try {
    const again = (text: string): Examination => examine({ ...shown, offer: text }, peer, options())
    return { ...report, bid, ...(await buy(caller, offer, bid, again)) }
  } catch (error) {
    return { ...report, bid, failure: toCtError(error) }
  }
}

async function look(caller: Caller): Promise<Shown> {
  const tools = (await listTools(caller)).tools.flatMap(({ name }) => (typeof name === 'string' ? [name] : []))
  const [offer, card] = await Promise.all([
    show(caller, 'auction/offer'),
    tools.includes('agent/card') ? show(caller, 'agent/card') : undefined,
  ])
  return { offer, card, tools }
}

async function show(caller: Caller, name: string): Promise<string> {
  return resultTextOf(await caller.call('tools/call', { name }))
}

/** What the offer has only one of need not be said. @throws {CtError} `ERR_CONFIG_INVALID` */
function signBid(env: Env, { kind, models }: CapacityOffer, self: HolderKey, now: UnixSeconds): Verified<CapacityBid> {
  const problems: EnvProblem[] = []
  const [model, ...others] = models
  const config = readBidConfig(env, problems, {
    kind,
    ...(model === undefined || others.length > 0 ? {} : { model }),
  })
  refuseProblems(problems)
  if (config === undefined) throw new TypeError('a missing setting is a problem')
  return seal(CAPACITY_BID, bidOf(config, self.id, now), self.secret)
}

/** A bid that was signed before: the seller answers it as it did then. @throws {CtError} `ERR_USAGE`, and as `openBid` */
function openOwnBid(
  given: Sealed<CapacityBid>,
  { id }: HolderKey,
  options: Omit<OpenOptions, 'signer'>,
): Verified<CapacityBid> {
  if (given.body.bidder !== id)
    throw new CtError('ERR_USAGE', `expected a bid of ${id}, found one of ${given.body.bidder}`)
  return openBid(given, options)
}

/** Keeps what was signed, one file each; the folder is made at once, so that nothing is bought that cannot be kept. */
function keeperIn(folder: string | undefined): Keep {
  if (folder === undefined) return () => {}
  makeOutputFolder(folder)
  return (name, json) => writeOutput(`${folder}/${name}.json`, `${writeExactJson(json)}\n`, generateInstanceId())
}
