/**
 * `bid make`: a signed bid, without a network.
 *
 * @module
 */
import { seal } from '../../core/artefact.ts'
import { type EnvProblem, refuseProblems } from '../../core/env.ts'
import { unixSeconds } from '../../core/u64.ts'
import { bidJson, bidOf, CAPACITY_BID, readBidConfig } from '../../offers/index.ts'
import { publish } from '../artefacts/publish.ts'
import { readSigner, signerOf } from '../artefacts/signing-key.ts'
import { type Context } from '../command.ts'

export async function bidMake(context: Context): Promise<number> {
  const { env, clock, stateDir } = context
  const problems: EnvProblem[] = []
  const given = readSigner(env, problems)
  const config = readBidConfig(env, problems)
  refuseProblems(problems)
  if (config === undefined) throw new TypeError('a missing bid is a problem')
  const { id, secret } = signerOf(given, stateDir)
  return publish(context, bidJson(seal(CAPACITY_BID, bidOf(config, id, unixSeconds(clock)), secret)))
}
