/**
 * `ct-agent offer fetch`: what a peer sells, examined; and with `--bid`, bought.
 *
 * @module
 */

import { cardJson } from '../../cards/index.ts'
import { type OpenOptions, seal, type Verified } from '../../core/artefact.ts'
import { type Env, type EnvProblem, readEnv, refuseProblems } from '../../core/env.ts'
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
  readBidConfig,
} from '../../offers/index.ts'
import { VERIFY_ENV } from '../artefacts/verify-settings.ts'
import { examine, type Shown } from '../buying/offer-examination.ts'
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
  const bids = switches.has('bid')
  // What the offer says is not known yet; what can be wrong without it is said before anybody is asked.
  if (bids) readBidConfig(env, problems, ANY_OFFER)
  refuseProblems(problems)
  const { ticket } = await takeTicket(context, 0)
  const options = (): Omit<OpenOptions, 'signer'> => ({ now: unixSeconds(clock), acceptLegacy, skewSeconds })
  const bidder: MakeBid | undefined = bids ? (offer, self) => makeBid(env, offer, self, options().now) : undefined
  const report = await withPeer(context, ticket, (caller, ends) => visit(caller, ends, bidder, options))
  const folder = values.get('save')
  if (folder !== undefined) save(folder, report)
  const text = switches.has('json')
    ? escapeUnprintable(writeExactJson(reportJson(report)))
    : reportText(report, unixSeconds(clock))
  await printResult(io, text)
  const [first] = report.findings
  if (first !== undefined) throw first
  return 0
}

const ANY_OFFER = { kind: 'LocalHardware', model: 'any' } as const

type MakeBid = (offer: CapacityOffer, self: HolderKey) => Verified<CapacityBid>

/** All in one session: nothing of it can be another peer's. */
async function visit(
  caller: Caller,
  { peer, self }: Ends,
  bidder: MakeBid | undefined,
  options: () => Omit<OpenOptions, 'signer'>,
): Promise<Report> {
  const shown = await look(caller)
  const examination = examine(shown, peer, options())
  const report = { ...examination, peer, tools: shown.tools, bid: undefined, match: undefined }
  if (bidder === undefined || examination.findings.length > 0) return report
  const bid = bidder(examination.offer.body, self)
  return { ...report, bid, match: await buy(caller, examination.offer, bid, options()) }
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
function makeBid(env: Env, { kind, models }: CapacityOffer, self: HolderKey, now: UnixSeconds): Verified<CapacityBid> {
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

/** Keeps what both sides signed, one file each. */
function save(folder: string, { offer, card, bid, match }: Report): void {
  makeOutputFolder(folder)
  const write = (name: string, json: ExactObject): void =>
    writeOutput(`${folder}/${name}.json`, `${writeExactJson(json)}\n`, generateInstanceId())
  write('offer', offerJson(offer))
  if (card !== undefined) write('card', cardJson(card))
  if (bid !== undefined) write('bid', bidJson(bid))
  if (match !== undefined) write('match', matchJson(match))
}
