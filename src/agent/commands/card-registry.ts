/**
 * `card publish` and `card find`: agent cards at a broker, where others find them.
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
import { type CardRegistryLink, openCardRegistry } from '../../channel/card-registry/index.ts'
import { type BrokerPlace } from '../../channel/index.ts'
import { type Verified } from '../../core/artefact.ts'
import { type EnvProblem, missing, parseInteger, refuseProblems } from '../../core/env.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { writeExactJson } from '../../core/exact-json.ts'
import { type HolderId, shortId } from '../../core/ids.ts'
import { type HolderKey, holderKey, SecretKey } from '../../core/keys.ts'
import { escapeUnprintable } from '../../core/printable.ts'
import { unixSeconds } from '../../core/u64.ts'
import { documentsOf, inSource, onlyDocument } from '../artefacts/document-source.ts'
import { shownTime } from '../artefacts/shown-fields.ts'
import { readSigner, signerOf } from '../artefacts/signing-key.ts'
import { type Checks, checksNow, readChecks } from '../artefacts/verify-settings.ts'
import { type Context } from '../command.ts'
import { readBrokerWays } from '../front-door.ts'
import { notice, printLine } from '../io.ts'
import { withProgress } from '../progress.ts'
import { cardTable } from '../registry/card-table.ts'
import { findCards } from '../registry/found-cards.ts'
import { watchShutdown } from '../shutdown.ts'

/** Enough to look through, and to print as a table. */
const DEFAULT_LIMIT = 100
const MAX_LIMIT = 10_000
/** Cards that are left out and named; of more only the number is told. */
const MAX_NAMED = 20

export async function cardPublish(context: Context): Promise<number> {
  const { io, env, stateDir, switches, clock } = context
  const problems: EnvProblem[] = []
  const given = readSigner(env, problems)
  const broker = readBrokerWays(env, problems)
  const checks = readChecks(env, problems)
  const [file] = context.operands
  const withdraws = switches.has('withdraw')
  if (withdraws && file !== undefined) throw new CtError('ERR_USAGE', 'expected a card or --withdraw, found both')
  const config = withdraws || file !== undefined ? undefined : readCardConfig(env, problems)
  if (!withdraws && file === undefined && config === undefined && problems.length === 0) {
    problems.push(missing(CARD_ENV.roles))
  }
  refuseProblems(problems)
  const holder = signerOf(given, stateDir)
  if (withdraws) {
    const { found } = await ask(context, { holder, broker }, (registry, signal) => registry.withdraw(signal))
    const words = found ? 'withdrawn' : 'none was published'
    await printLine(
      io,
      switches.has('json') ? JSON.stringify({ holder: holder.id, withdrawn: found }) : `${words}  holder=${holder.id}`,
    )
    return 0
  }
  const card =
    config === undefined
      ? await readOwnCard(context, checks, holder.id)
      : sealCard(cardOf(config, holder.id, unixSeconds(clock)), holder.secret)
  const text = writeExactJson(cardJson(card))
  const { until } = await ask(context, { holder, broker }, (registry, signal) => registry.publish(text, signal))
  const json = { holder: holder.id, until, expires_at: card.body.expiresAt }
  await printLine(
    io,
    switches.has('json') ? writeExactJson(json) : `published  holder=${holder.id}  until=${shownTime(until)}`,
  )
  return 0
}

export async function cardFind(context: Context): Promise<number> {
  const { io, env, values, switches, clock, log } = context
  const problems: EnvProblem[] = []
  const broker = readBrokerWays(env, problems)
  const checks = readChecks(env, problems)
  const limit = readLimit(values.get('limit'))
  refuseProblems(problems)
  const query = { role: values.get('role'), skill: values.get('skill'), limit }
  const isTable = io.stdout.isTTY === true && !switches.has('json')
  const table: AgentCard[] = []
  let [good, bad] = [0, 0]
  const leftOut = (problem: CtError): void => {
    bad += 1
    if (bad > MAX_NAMED) return
    if (io.isQuiet === true) log.warn('card.left_out', { code: problem.code, reason: problem.message })
    else notice(io, `ct-agent: a card is left out: ${problem.code} ${problem.message}`)
  }
  // Nobody has to know who asks: the key is made for the one question.
  const holder = holderKey(SecretKey.generate())
  await ask(context, { holder, broker }, async (registry, signal) => {
    for await (const found of findCards(registry, query, { options: () => checksNow(checks, clock), signal })) {
      if ('problem' in found) {
        leftOut(found.problem)
        continue
      }
      good += 1
      if (isTable) table.push(found.card.body)
      else await printLine(io, escapeUnprintable(writeExactJson(cardJson(found.card))))
    }
  })
  if (table.length > 0) await printLine(io, cardTable(table, unixSeconds(clock)))
  if (bad > MAX_NAMED) notice(io, `ct-agent: ${bad} cards are left out in all`)
  if (good === 0) notice(io, 'ct-agent: no card fits')
  return 0
}

interface Asking {
  readonly holder: HolderKey
  readonly broker: readonly BrokerPlace[]
}

async function ask<Answer>(
  { io, clock }: Context,
  { holder, broker }: Asking,
  question: (registry: CardRegistryLink, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const shutdown = watchShutdown(io, 'ERR_STOPPED')
  const registry = await openCardRegistry({ holder, broker, clock })
  try {
    return await withProgress(io, clock, 'waiting for the broker', question(registry, shutdown.signal))
  } finally {
    await registry.close()
    shutdown.dispose()
  }
}

/** The card in the file, of the holder that publishes it. */
async function readOwnCard(
  { io, operands, clock }: Context,
  checks: Checks,
  holder: HolderId,
): Promise<Verified<AgentCard>> {
  const source = documentsOf(io, operands[0])
  const text = await onlyDocument(source)
  try {
    const card = openCard(parseCard(text), checksNow({ ...checks, acceptLegacy: false }, clock))
    if (card.body.holder === holder) return card
    const [expected, found] = [shortId(holder), shortId(card.body.holder)]
    const problem = `expected a card of this agent's key ${expected}…, found one of ${found}…, which alone can publish it`
    throw new CtError('ERR_USAGE', problem)
  } catch (error) {
    throw isCtError(error) ? inSource(source.name, error) : error
  }
}

function readLimit(text = String(DEFAULT_LIMIT)): number {
  const parsed = parseInteger(1, MAX_LIMIT)(text)
  if ('problem' in parsed) throw new CtError('ERR_USAGE', `--limit: ${parsed.problem}`)
  return parsed.value
}
