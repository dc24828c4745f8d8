/**
 * `offer make`, `offer verify`, `offer show`: signed capacity offers, without a network.
 *
 * @module
 */
import { seal } from '../../core/artefact.ts'
import { type EnvProblem, missing, refuseProblems } from '../../core/env.ts'
import { unixSeconds } from '../../core/u64.ts'
import { CAPACITY_OFFER, OFFER_ENV, offerJson, offerOf, readOfferConfig } from '../../offers/index.ts'
import { showDocuments, verifyDocuments } from '../artefacts/check-documents.ts'
import { refuseAmbiguous } from '../artefacts/declared-services.ts'
import { OFFER_READER } from '../artefacts/offer-reading.ts'
import { publish } from '../artefacts/publish.ts'
import { readSigner, signerOf } from '../artefacts/signing-key.ts'
import { type Context } from '../command.ts'

export async function offerMake(context: Context): Promise<number> {
  const { env, clock, stateDir } = context
  const problems: EnvProblem[] = []
  const given = readSigner(env, problems)
  const config = readOfferConfig(env, problems)
  if (config === undefined && problems.length === 0) {
    const { kind, models, units, minPrice, currency } = OFFER_ENV
    problems.push(...[kind, models, units, minPrice, currency].map(missing))
  }
  if (config !== undefined) refuseAmbiguous(config, problems)
  refuseProblems(problems)
  if (config === undefined) throw new TypeError('a missing offer is a problem')
  const { id, secret } = signerOf(given, stateDir)
  return publish(context, offerJson(seal(CAPACITY_OFFER, offerOf(config, id, unixSeconds(clock)), secret)))
}

export function offerVerify(context: Context): Promise<number> {
  return verifyDocuments(context, OFFER_READER)
}

export function offerShow(context: Context): Promise<number> {
  return showDocuments(context, OFFER_READER)
}
