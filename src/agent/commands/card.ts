/**
 * `card make`, `card verify`, `card show`: signed agent cards, without a network.
 *
 * @module
 */
import { a2aCard, CARD_ENV, cardJson, cardOf, readCardConfig, sealCard, signA2aCard } from '../../cards/index.ts'
import { type EnvProblem, missing, refuseProblems } from '../../core/env.ts'
import { unixSeconds } from '../../core/u64.ts'
import { VERSION } from '../../core/version.ts'
import { CARD_READER } from '../artefacts/card-reading.ts'
import { showDocuments, verifyDocuments } from '../artefacts/check-documents.ts'
import { publish } from '../artefacts/publish.ts'
import { readSigner, signerOf } from '../artefacts/signing-key.ts'
import { type Context } from '../command.ts'

export async function cardMake(context: Context): Promise<number> {
  const { env, clock, stateDir, switches } = context
  const problems: EnvProblem[] = []
  const given = readSigner(env, problems)
  const config = readCardConfig(env, problems)
  if (config === undefined && problems.length === 0) problems.push(missing(CARD_ENV.roles))
  refuseProblems(problems)
  if (config === undefined) throw new TypeError('a missing card is a problem')
  const { id, secret } = signerOf(given, stateDir)
  const card = sealCard(cardOf(config, id, unixSeconds(clock)), secret)
  const json = switches.has('a2a') ? await signA2aCard(a2aCard(card, { version: VERSION }), secret) : cardJson(card)
  return publish(context, json)
}

export function cardVerify(context: Context): Promise<number> {
  return verifyDocuments(context, CARD_READER)
}

export function cardShow(context: Context): Promise<number> {
  return showDocuments(context, CARD_READER)
}
