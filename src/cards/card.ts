/**
 * The agent card: what a holder says about itself, signed by its own key.
 *
 * Holds: what {@link sealCard} makes, {@link parseCard} reads. A card proves that its holder said so, and nothing more:
 * anybody can sign a card for their own key.
 *
 * @module
 */
import { type ArtefactKind, type OpenOptions, open, type Sealed, seal, type Verified } from '../core/artefact.ts'
import { type ExactJson, type ExactObject, parseExactJson, writeExactJson } from '../core/exact-json.ts'
import { type CellId, type ChannelId, type HolderId, parseCellId, parseChannelId, parseSignature } from '../core/ids.ts'
import { hexAs, holderId, listOf, shape, text, wholeNumber } from '../core/json-shape.ts'
import { type SecretKey } from '../core/keys.ts'
import { Preimage } from '../core/preimage.ts'
import { type UnixSeconds } from '../core/u64.ts'

export interface CardSkill {
  readonly id: string
  /** May be empty. */
  readonly description: string
  readonly examples: readonly string[]
}

export interface AgentCard {
  readonly holder: HolderId
  readonly roleTags: readonly string[]
  readonly skills: readonly CardSkill[]
  readonly cells: readonly CellId[]
  readonly channels: readonly ChannelId[]
  readonly issuedAt: UnixSeconds
  readonly expiresAt: UnixSeconds
}

export const AGENT_CARD: ArtefactKind<AgentCard> = {
  name: 'agent card',
  domain: 'framed',
  hasLegacyForm: true,
  preimage: (card, form) =>
    new Preimage('ct-agent-card-v1', form)
      .id(card.holder)
      .list(card.roleTags, (preimage, tag) => preimage.text(tag))
      .list(card.skills, (preimage, skill) =>
        preimage
          .text(skill.id)
          .text(skill.description)
          .list(skill.examples, (inner, example) => inner.text(example)),
      )
      .list(card.cells, (preimage, cell) => preimage.id(cell))
      .list(card.channels, (preimage, channel) => preimage.id(channel))
      .u64(card.issuedAt)
      .u64(card.expiresAt)
      .bytes(),
  validity: ({ issuedAt, expiresAt }) => ({ issuedAt, expiresAt }),
  signers: ({ holder }) => [holder],
  refuseUnreadable: (sealed) => {
    parseCard(writeExactJson(cardJson(sealed)))
  },
}

/**
 * Signs the card with the secret of its holder.
 *
 * @throws {CtError} `ERR_ARTEFACT_INVALID` when it is larger than readers take
 */
export function sealCard(body: AgentCard, secret: SecretKey): Verified<AgentCard> {
  return seal(AGENT_CARD, body, secret)
}

/** Checks the holder's signature, then the time. @throws {CtError} as {@link open} does */
export function openCard(sealed: Sealed<AgentCard>, options: Omit<OpenOptions, 'signer'>): Verified<AgentCard> {
  return open(AGENT_CARD, sealed, { ...options, signer: sealed.body.holder })
}

/** A card from JSON text, or from JSON read already; nothing of it is checked yet. @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function parseCard(source: ExactJson): Sealed<AgentCard> {
  const json = typeof source === 'string' ? parseExactJson(source, AGENT_CARD.name) : source
  const card = readCard(json, AGENT_CARD.name)
  return {
    body: {
      holder: card.holder_pubkey,
      roleTags: card.role_tags,
      skills: card.skills,
      cells: card.cells,
      channels: card.channels,
      issuedAt: card.issued_at,
      expiresAt: card.expires_at,
    },
    signature: card.signature,
  }
}

/** The card as JSON, its members in the order that all programs write. */
export function cardJson({ body, signature }: Sealed<AgentCard>): ExactObject {
  return {
    holder_pubkey: body.holder,
    role_tags: body.roleTags,
    skills: body.skills.map(({ id, description, examples }) => ({ id, description, examples })),
    cells: body.cells,
    channels: body.channels,
    issued_at: body.issuedAt,
    expires_at: body.expiresAt,
    signature,
  }
}

const readCard = shape({
  holder_pubkey: holderId,
  role_tags: listOf(text),
  skills: listOf(shape({ id: text, description: text, examples: listOf(text) })),
  cells: listOf(hexAs(parseCellId)),
  channels: listOf(hexAs(parseChannelId)),
  issued_at: wholeNumber,
  expires_at: wholeNumber,
  signature: hexAs(parseSignature),
})
