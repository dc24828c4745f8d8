/**
 * What a broker finds, checked: nothing that it says of a card is believed.
 *
 * Holds: a card that is given out was signed by its holder, holds now, and fits what was asked; of each holder there is
 * one. However a broker answers, the search ends.
 *
 * @module
 */
import { type AgentCard, openCard, parseCard } from '../../cards/index.ts'
import { type CardQuery, type CardRegistryLink, MAX_PAGE_CARDS } from '../../channel/card-registry/index.ts'
import { type Verified } from '../../core/artefact.ts'
import { CtError, toCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { verifyMany } from '../../core/keys.ts'
import { type CheckOptions } from '../artefacts/artefact-reading.ts'

/** A broker could go on for ever. */
const MAX_PAGES = 1_024

export interface Search extends CardQuery {
  /** Cards, at most. */
  readonly limit: number
}

export type FoundCard = { readonly card: Verified<AgentCard> } | { readonly problem: CtError }

/** Good and bad ones, as they come. @throws {CtError} as the registry does; `ERR_PROTOCOL` when its pages do not end */
export async function* findCards(
  registry: Pick<CardRegistryLink, 'find'>,
  { limit, ...query }: Search,
  { options, signal }: { readonly options: () => CheckOptions; readonly signal: AbortSignal },
): AsyncGenerator<FoundCard> {
  const seen = new Set<HolderId>()
  let after: HolderId | undefined
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const asked = Math.min(MAX_PAGE_CARDS, limit - seen.size)
    const { cards, next } = await registry.find({ ...query, limit: asked, after }, signal)
    for (const text of cards) {
      const found = examine(text, query, options())
      if ('problem' in found) {
        yield found
        continue
      }
      const { holder } = found.card.body
      if (seen.has(holder)) continue
      seen.add(holder)
      yield found
      if (seen.size === limit) return
    }
    if (next === undefined) return
    if (after !== undefined && next <= after) throw endless()
    after = next
  }
  throw endless()
}

function examine(text: string, { role, skill }: CardQuery, options: CheckOptions): FoundCard {
  try {
    const card = openCard(parseCard(text), { ...options, verifier: verifyMany })
    const { roleTags, skills, holder } = card.body
    const fits =
      (role === undefined || roleTags.includes(role)) && (skill === undefined || skills.some(({ id }) => id === skill))
    if (fits) return { card }
    return { problem: new CtError('ERR_PROTOCOL', `agent card of ${holder}: it does not fit what was asked`) }
  } catch (error) {
    const problem = toCtError(error)
    if (problem.code === 'ERR_INTERNAL') throw error
    return { problem }
  }
}

function endless(): CtError {
  return new CtError('ERR_PROTOCOL', 'expected the pages of the card registry to end, found that they do not')
}
