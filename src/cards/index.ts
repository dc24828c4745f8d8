/**
 * Agent cards: the native signed card and its form as an A2A card.
 *
 * @module
 */
export {
  a2aCard,
  CARD_EXTENSION,
  type SignedA2aCard,
  signA2aCard,
  verifyA2aCard,
} from './a2a-card.ts'
export { AGENT_CARD, type AgentCard, cardJson, openCard, parseCard, sealCard } from './card.ts'
export { CARD_ENV, type CardConfig, cardOf, readCardConfig } from './config.ts'
export { didKey, holderJwk } from './did-key.ts'
