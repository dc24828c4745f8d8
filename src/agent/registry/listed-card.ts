/**
 * Cards for a registry: read and checked by the one core that all cards are checked by.
 *
 * @module
 */
import { type AgentCard, openCard, parseCard } from '../../cards/index.ts'
import { type ListedCard } from '../../channel/broker/index.ts'
import { verifyExactly } from '../../core/keys.ts'
import { type UnixSeconds } from '../../core/u64.ts'

/** What a broker keeps beside the text of a card. @throws {CtError} as `parseCard` and `openCard` do */
export function readListedCard(text: string, now: UnixSeconds): ListedCard {
  return listed(openCard(parseCard(text), { now, verifier: verifyExactly }).body)
}

function listed({ holder, roleTags, skills, issuedAt, expiresAt }: AgentCard): ListedCard {
  return { holder, roles: roleTags, skills: skills.map(({ id }) => id), issuedAt, expiresAt }
}
