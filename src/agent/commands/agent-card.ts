/**
 * `channel agent-card`: signs the card and writes it where it will be served; with `--verify`, checks one.
 *
 * @module
 */
import {
  type AgentCard,
  CARD_ENV,
  cardJson,
  cardOf,
  openCard,
  parseCard,
  readCardConfig,
  sealCard,
} from '../../cards/index.ts'
import { CHANNEL_ENV } from '../../channel/config.ts'
import { type Sealed } from '../../core/artefact.ts'
import { type EnvProblem, missing, readEnv, refuseProblems } from '../../core/env.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { writeExactJson } from '../../core/exact-json.ts'
import { generateInstanceId, holderKey } from '../../core/keys.ts'
import { unixSeconds } from '../../core/u64.ts'
import { cardLine } from '../artefacts/card-reading.ts'
import { documentsOf, onlyDocument } from '../artefacts/document-source.ts'
import { register, registrationOf, registryOf } from '../artefacts/registration.ts'
import { REGISTRATION_ENV } from '../artefacts/registration-settings.ts'
import { readSigner } from '../artefacts/signing-key.ts'
import { checksNow, readChecks } from '../artefacts/verify-settings.ts'
import { type Context } from '../command.ts'
import { notice, printLine } from '../io.ts'
import { makeOutputFolder, writeOutput } from '../output.ts'
import { printResult } from '../result.ts'

export function agentCard(context: Context): Promise<number> {
  const file = context.values.get('verify')
  return file === undefined ? writeCard(context) : verifyCard(context, file)
}

async function writeCard({ io, env, clock }: Context): Promise<number> {
  const problems: EnvProblem[] = []
  const secret = readSigner(env, problems)
  if (secret === undefined && problems.length === 0) problems.push(missing(CHANNEL_ENV.holderKey))
  const before = problems.length
  const config = readCardConfig(env, problems)
  if (config === undefined && problems.length === before) problems.push(missing(CARD_ENV.roles))
  const registry = readEnv(REGISTRATION_ENV, env, problems)
  refuseProblems(problems)
  if (secret === undefined || config === undefined) throw new TypeError('what is missing is a problem')
  const card = sealCard(cardOf(config, holderKey(secret).id, unixSeconds(clock)), secret)
  const folder = `${config.out.replace(/\/+$/, '')}/.well-known`
  const path = `${folder}/agent-card.json`
  makeOutputFolder(folder)
  writeOutput(path, writeExactJson(cardJson(card)), generateInstanceId())
  await printResult(io, path)
  const registration = registrationOf(registry, config.url)
  if (registration === undefined) {
    notice(io, NOT_REGISTERED)
  } else {
    await register(registration, card.body)
    notice(io, `registered at ${registryOf(registration)} (card_url=${registration.cardUrl})`)
  }
  return 0
}

const NOT_REGISTERED =
  'ct-agent: not auto-registered with /registry/agents — set CT_AGENT_CP_URL, CT_AGENT_CARD_URL (the https:// URL this card will be served at), and CT_CP_EDGE_ADMIN_TOKEN to do this automatically next time.'

async function verifyCard({ io, env, clock }: Context, file: string): Promise<number> {
  const problems: EnvProblem[] = []
  const checks = readChecks(env, problems)
  refuseProblems(problems)
  const sealed = await readCardFile(io, file)
  const options = checksNow(checks, clock)
  try {
    const { form } = openCard(sealed, options)
    await printLine(io, `valid  ${cardLine(sealed.body)}${form === 'legacy' ? '  legacy form' : ''}`)
    return 0
  } catch (error) {
    if (!isCtError(error)) throw error
    const problem = PROBLEMS[error.code]?.(sealed, options.skewSeconds)
    if (problem === undefined) throw error
    const message = `card failed verification at now=${options.now}: ${problem}`
    throw new CtError(error.code, message, { cause: error, detail: error.detail })
  }
}

/** The original says no more than that one of them was the reason. */
const PROBLEMS: Readonly<Record<string, (card: Sealed<AgentCard>, skewSeconds: number) => string>> = {
  ERR_SIGNATURE_INVALID: ({ body }) => `bad holder signature (expires_at=${body.expiresAt})`,
  ERR_SIGNATURE_LEGACY: ({ body }) =>
    `holder signature in the legacy form, see CT_ACCEPT_LEGACY_SIGNATURES (expires_at=${body.expiresAt})`,
  ERR_ARTEFACT_EXPIRED: ({ body }) => `expired (expires_at=${body.expiresAt})`,
  ERR_ARTEFACT_EARLY: ({ body }, skewSeconds) =>
    `issued in the future (issued_at=${body.issuedAt}, clocks may differ by ${skewSeconds} seconds)`,
}

async function readCardFile(io: Context['io'], file: string): Promise<Sealed<AgentCard>> {
  try {
    return parseCard(await onlyDocument(documentsOf(io, file)))
  } catch (error) {
    if (isCtError(error, 'ERR_USAGE')) {
      const { cause } = error
      throw new CtError('ERR_USAGE', `cannot read ${file}: ${cause instanceof Error ? cause.message : error.message}`, {
        cause,
      })
    }
    if (!isCtError(error)) throw error
    throw new CtError(error.code, `not a valid AgentCard JSON profile: ${error.message}`, { cause: error })
  }
}
