/**
 * The card of a serving agent at its broker, where others find the agent.
 *
 * @module
 */
import { type CardConfig, cardOf, sealCard } from '../../cards/index.ts'
import { openCardRegistry } from '../../channel/card-registry/index.ts'
import { type BrokerPlace } from '../../channel/index.ts'
import { type HolderKey } from '../../core/keys.ts'
import { unixSeconds } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { notice } from '../io.ts'
import { keepCardListed } from '../registry/card-keeper.ts'

export interface Listing {
  readonly card: CardConfig
  readonly holder: HolderKey
  readonly broker: readonly BrokerPlace[]
}

/** Keeps the card there until the returned function is called, and tells people once whether it is. */
export function listCard(
  { io, log, clock, random }: Pick<Context, 'io' | 'log' | 'clock' | 'random'>,
  { card, holder, broker }: Listing,
): () => Promise<void> {
  const leaving = new AbortController()
  let told = ''
  const kept = keepCardListed(
    {
      sign: () => sealCard(cardOf(card, holder.id, unixSeconds(clock)), holder.secret),
      open: () => openCardRegistry({ holder, broker, clock }),
      clock,
      random,
      onState: (trouble) => {
        const now = trouble?.code ?? 'listed'
        if (now === told) return
        told = now
        if (trouble === undefined) notice(io, 'ct-agent: the card is at the broker: ct-agent card find shows it')
        else if (trouble.code === 'ERR_PROTOCOL') log.info('card.not_listed', { code: trouble.code })
        else notice(io, `ct-agent: the card is not at the broker (${trouble.code}: ${trouble.message})`)
      },
    },
    leaving.signal,
  )
  return async () => {
    leaving.abort()
    await kept
  }
}
