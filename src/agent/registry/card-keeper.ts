/**
 * Keeps the card of a serving agent at its broker.
 *
 * Holds: the card there is at most {@link EVERY_MS} old, so it is back soon after the broker was restarted, and gone soon
 * after this agent is; a broker that keeps no cards is asked once. Nothing that goes wrong here ends anything else.
 *
 * @module
 */
import { type AgentCard, cardJson } from '../../cards/index.ts'
import { type CardRegistryLink } from '../../channel/card-registry/index.ts'
import { type Verified } from '../../core/artefact.ts'
import { type CtError, isCtError, retryAfterOf, toCtError } from '../../core/errors.ts'
import { writeExactJson } from '../../core/exact-json.ts'
import { Backoff, type BackoffPolicy, type Clock, pause, type Random } from '../../core/time.ts'

/** A restarted broker has lost its cards. */
export const EVERY_MS = 300_000
/** A broker may know the card before it knows that its holder is a member. */
const RETRY: BackoffPolicy = { baseMs: 2_000, capMs: EVERY_MS, stableMs: EVERY_MS }

export interface KeeperOptions {
  /** Signs the card as of now. */
  readonly sign: () => Verified<AgentCard>
  /** Opened for each time: nothing is held between them. */
  readonly open: () => Promise<Pick<CardRegistryLink, 'publish' | 'close'>>
  readonly clock: Clock
  readonly random: Random
  /** Told why the card is not there, and with nothing when it is. */
  readonly onState: (trouble: CtError | undefined) => void
}

/** Publishes the card again and again until the signal aborts. Never rejects. */
export async function keepCardListed(options: KeeperOptions, signal: AbortSignal): Promise<void> {
  const { sign, clock, random, onState } = options
  const backoff = new Backoff(RETRY, random)
  let lastedMs = 0
  while (!signal.aborted) {
    let waitMs: number
    try {
      const card = sign()
      await publish(options, card, signal)
      onState(undefined)
      lastedMs = EVERY_MS
      waitMs = Math.min(EVERY_MS, halfLifeMs(card.body))
    } catch (error) {
      if (signal.aborted) return
      const trouble = toCtError(error)
      onState(trouble)
      // It does not know the protocol, and no later version of itself will.
      if (isCtError(trouble, 'ERR_PROTOCOL', 'ERR_VERSION_UNSUPPORTED')) return
      waitMs = Math.max(backoff.next(lastedMs), retryAfterOf(trouble) ?? 0)
      lastedMs = 0
    }
    await pause(clock, waitMs, signal)
  }
}

async function publish({ open }: KeeperOptions, card: Verified<AgentCard>, signal: AbortSignal): Promise<void> {
  const registry = await open()
  try {
    await registry.publish(writeExactJson(cardJson(card)), signal)
  } finally {
    await registry.close()
  }
}

function halfLifeMs({ issuedAt, expiresAt }: AgentCard): number {
  return Math.max(MIN_WAIT_MS, Number(expiresAt - issuedAt) * 500)
}

/** Of a card that holds for seconds only; a broker takes no more of them. */
const MIN_WAIT_MS = 10_000
