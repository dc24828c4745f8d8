/**
 * `ct-agent offer fetch`: what a peer sells, examined; and with `--bid`, bought.
 *
 * @module
 */
import { cardJson } from '../../cards/index.ts'
import { type Sealed, seal, type Verified } from '../../core/artefact.ts'
import { type Env, type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError, isCtError, toCtError } from '../../core/errors.ts'
import { writeExactJson } from '../../core/exact-json.ts'
import { type HolderKey } from '../../core/keys.ts'
import { escapeUnprintable } from '../../core/printable.ts'
import { type UnixSeconds, unixSeconds } from '../../core/u64.ts'
import { resultTextOf } from '../../mcp/index.ts'
import { BID_ENV } from '../../offers/config.ts'
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
import { type CheckOptions } from '../artefacts/artefact-reading.ts'
import { readOnly } from '../artefacts/document-source.ts'
import { VERIFY_ENV } from '../artefacts/verify-settings.ts'
import { type Examination, examine, type Shown } from '../buying/offer-examination.ts'
import { type Report, reportJson, reportText } from '../buying/offer-report.ts'
import { buy } from '../buying/purchase.ts'
import { type Keep, offerBeside, openPurchaseFolder } from '../buying/purchase-folder.ts'
import { type Caller } from '../calling/caller.ts'
import { type Ends, withPeer } from '../calling/peer-call.ts'
import { takePeer } from '../calling/ticket-source.ts'
import { listTools } from '../calling/tool-list.ts'
import { type Context } from '../command.ts'
import { refuseSharedStdin } from '../input.ts'
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
  else readEnv(BID_ENV, env, problems)
  refuseProblems(problems)
  refuseSharedStdin([context.operands[0], bidFile])
  const options = (): CheckOptions => ({ now: unixSeconds(clock), acceptLegacy, skewSeconds })
  const given = bidFile === undefined ? undefined : await readOnly(io, bidFile, parseBid)
  const keep = await openPurchaseFolder(values.get('save'), given)
  const { peer: seller } = await takePeer(context, 0)
  const makeBid: MakeBid | undefined =
    given !== undefined && bidFile !== undefined
      ? async (_, { peer, self }) => ({
          bid: openOwnBid(given, self, options()),
          earlier: await offerBeside(bidFile, peer),
        })
      : bids
        ? async (offer, { self }) => ({ bid: signBid(env, offer, self, options().now), earlier: undefined })
        : undefined
  const report = await withPeer(context, seller, (caller, ends) => visit(caller, ends, { makeBid, options, keep }))
  const text = switches.has('json')
    ? escapeUnprintable(writeExactJson(reportJson(report)))
    : reportText(report, unixSeconds(clock))
  await printResult(io, text)
  if (report.match !== undefined && report.offer !== undefined) {
    keep('offer', offerJson(report.offer))
    keep('match', matchJson(report.match))
  }
  const problem = report.findings[0] ?? report.failure
  if (problem !== undefined) throw problem
  return 0
}

const ANY_OFFER = { kind: 'LocalHardware', model: 'any' } as const

interface MadeBid {
  readonly bid: Verified<CapacityBid>
  /** The offer that it was made for, when it was made before. */
  readonly earlier: Verified<CapacityOffer> | undefined
}

type MakeBid = (offer: CapacityOffer, ends: Ends) => Promise<MadeBid>

interface Visit {
  readonly makeBid: MakeBid | undefined
  readonly options: () => CheckOptions
  readonly keep: Keep
}

/** All in one session: nothing of it can be another peer's. What is signed is kept before it is sent. */
async function visit(caller: Caller, ends: Ends, { makeBid, options, keep }: Visit): Promise<Report> {
  const { peer } = ends
  const shown = await look(caller)
  const examination = examine(shown, peer, options())
  const { offer, card, trusted } = examination
  const report = { ...examination, peer, tools: shown.tools, bid: undefined, match: undefined }
  if (card !== undefined) keep('card', cardJson(card))
  if (makeBid === undefined || trusted === undefined) {
    if (offer !== undefined) keep('offer', offerJson(offer))
    return report
  }
  const { bid, earlier } = await makeBid(trusted.body, ends)
  keep('offer', offerJson(earlier ?? trusted))
  keep('bid', bidJson(bid))
  try {
    const again = (text: string): Examination => examine({ ...shown, offer: text }, peer, options())
    const offers = earlier === undefined ? ([trusted] as const) : ([trusted, earlier] as const)
    return { ...report, bid, ...(await buy(caller, offers, bid, again)) }
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

/** What the tool shows, or the peer's reason why it shows nothing. */
async function show(caller: Caller, name: string): Promise<string | CtError> {
  const answer = await caller.call('tools/call', { name })
  try {
    return resultTextOf(answer)
  } catch (error) {
    if (isCtError(error)) return error
    throw error
  }
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
function openOwnBid(given: Sealed<CapacityBid>, { id }: HolderKey, options: CheckOptions): Verified<CapacityBid> {
  if (given.body.bidder !== id)
    throw new CtError('ERR_USAGE', `expected a bid of ${id}, found one of ${given.body.bidder}`)
  return openBid(given, options)
}
