/**
 * The agent card in the form of A2A 1.0, which holds the native card and is signed by the same key.
 *
 * Whoever meets the agent for the first time needs no directory of keys. The native card stands in an extension as text
 * and proves the holder key; the holder signs all of it once more, as a JWS. Its header names the key as a `did:key` in
 * `kid` and as a `jwk`, so that any JOSE library verifies it. Here both are no more than hints.
 *
 * Holds: a card of ours has no empty text, list or object: the A2A specification has a signature cover the required ones
 * among them, and its SDKs leave all of them out. It has no number either, which A2A would turn into a double. The native
 * card in it says how long it is good for.
 *
 * The interface that it names is ours, MCP on an encrypted channel: an A2A client finds none it can call, and is right.
 *
 * @module
 * @see https://a2a-protocol.org/v1.0.0/specification/#84-agent-card-signing
 */
import { type OpenOptions, requireVerified, type Verified } from '../core/artefact.ts'
import { CtError } from '../core/errors.ts'
import { type ExactJson, type ExactObject, malformed, writeExactJson } from '../core/exact-json.ts'
import { type HolderId, shortId } from '../core/ids.ts'
import {
  isExactObject,
  listOf,
  optional,
  own,
  parseAs,
  type Read,
  shape,
  text,
  unexpected,
} from '../core/json-shape.ts'
import { holderKey, type SecretKey } from '../core/keys.ts'
import { type A2aSignature } from './a2a-jws.ts'
import { type AgentCard, cardJson, openCard, parseCard } from './card.ts'
import { didKey } from './did-key.ts'

/** Names the extension that holds the native card, as `params.card`. */
export const CARD_EXTENSION = 'urn:ct-agent:card:v1'
/** Names how the agent is called. */
const CHANNEL_BINDING = 'urn:ct-agent:mcp-channel:v1'

export interface A2aOptions {
  /** Version of the agent. */
  readonly version: string
  /** Unless given, made of the holder key. */
  readonly name?: string
  /** Unless given, made of the roles. */
  readonly description?: string
  /** Where the agent is called; unless given, the holder key as a `did:key`. */
  readonly url?: string
}

/** An A2A card with signatures. */
export type SignedA2aCard = ExactObject & { readonly signatures: readonly (ExactObject & A2aSignature)[] }

export interface VerifiedA2aCard {
  /** Who signed it. */
  readonly holder: HolderId
  readonly card: ExactObject
  /** The native card in it; there is always one unless the holder was given. */
  readonly native: Verified<AgentCard> | undefined
}

/** The unsigned A2A form, with the same skills. @throws {CtError} `ERR_ARTEFACT_INVALID` for a card with neither skills nor roles */
export function a2aCard(native: Verified<AgentCard>, options: A2aOptions): ExactObject {
  requireVerified(native)
  if (options.version === '') throw new RangeError('expected a version, found none')
  const { holder, roleTags } = native.body
  const roles = roleTags.filter((tag) => tag !== '')
  return {
    name: given(options.name) ?? `Agent ${shortId(holder)}`,
    description:
      given(options.description) ?? `Agent for ${roles.length > 0 ? roles.join(', ') : 'the skills it lists'}`,
    supportedInterfaces: [
      {
        url: given(options.url) ?? didKey(holder),
        protocolBinding: CHANNEL_BINDING,
        protocolVersion: '1.0',
      },
    ],
    version: options.version,
    capabilities: {
      extensions: [
        {
          uri: CARD_EXTENSION,
          description: 'The agent card that the holder key signed',
          params: { card: writeExactJson(cardJson(native)) },
        },
      ],
    },
    defaultInputModes: ['application/json'],
    defaultOutputModes: ['application/json', 'text/plain'],
    skills: skillsOf(native.body, roles),
  }
}

/**
 * Adds the signature of the card's holder.
 *
 * @throws {CtError} `ERR_ARTEFACT_INVALID` when the card is larger than readers take
 */
export async function signA2aCard(card: ExactObject, secret: SecretKey): Promise<SignedA2aCard> {
  const native = nativeCard(card)
  if (native !== undefined && native.body.holder !== holderKey(secret).id) {
    throw new RangeError('expected the secret of the holder, found another')
  }
  const { signJws } = await import('./a2a-jws.ts')
  const signed = { ...card, signatures: [{ ...(await signJws(card, secret)) }] }
  parseAs(object, writeExactJson(signed), NAME)
  return signed
}

/**
 * Checks that the holder signed the card: the one given, or else the one that the native card in it proves.
 *
 * @throws {CtError} `ERR_ARTEFACT_INVALID`, `ERR_SIGNATURE_INVALID`; and for the native card as {@link openCard} does
 */
export async function verifyA2aCard(
  source: string,
  options: Omit<OpenOptions, 'signer'> & { readonly holder?: HolderId },
): Promise<VerifiedA2aCard> {
  const card = parseAs(object, source, NAME)
  const signatures = readSignatures(own(card, 'signatures'), `${NAME}.signatures`)
  if (signatures.length > MAX_SIGNATURES) {
    throw malformed(`${NAME}.signatures: expected at most ${MAX_SIGNATURES} items, found ${signatures.length}`)
  }
  const sealed = nativeCard(card)
  const holder = options.holder ?? sealed?.body.holder
  if (holder === undefined) {
    throw malformed(`${NAME}: expected the extension ${CARD_EXTENSION}, found none that says whose card it is`)
  }
  if (sealed !== undefined && sealed.body.holder !== holder) {
    throw new CtError(
      'ERR_SIGNATURE_INVALID',
      `${NAME}: expected a card of ${holder}, found one of ${sealed.body.holder}`,
    )
  }
  const { isSignedBy } = await import('./a2a-jws.ts')
  for (const signature of signatures) {
    if (await isSignedBy(holder, card, signature)) {
      return { holder, card, native: sealed === undefined ? undefined : openCard(sealed, options) }
    }
  }
  throw new CtError('ERR_SIGNATURE_INVALID', `${NAME}: no signature in it is one of ${holder} over this content`)
}

function skillsOf({ skills }: AgentCard, roles: readonly string[]): readonly ExactObject[] {
  const named = skills.filter(({ id }) => id !== '')
  if (named.length === 0 && roles.length === 0) {
    throw malformed('agent card: expected a skill or a role for the A2A form, found neither')
  }
  if (named.length === 0) {
    return roles.map((role) => ({ id: role, name: role, description: `Acts as ${role}`, tags: [role] }))
  }
  return named.map(({ id, description, examples }) => {
    const shown = examples.filter((example) => example !== '')
    return {
      id,
      name: id,
      description: given(description) ?? id,
      tags: roles.length > 0 ? roles : [id],
      ...(shown.length > 0 ? { examples: shown } : {}),
    }
  })
}

function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

/** The native card that the A2A card holds, not yet checked. */
function nativeCard(card: ExactObject) {
  const { extensions } = readCapabilities(own(card, 'capabilities'), `${NAME}.capabilities`)
  const found = extensions.filter((extension) => own(extension, 'uri') === CARD_EXTENSION)
  if (found.length > 1) throw malformed(`${NAME}: expected the extension ${CARD_EXTENSION} once, found it twice`)
  const [extension] = found
  if (extension === undefined) return undefined
  return parseCard(readParams(own(extension, 'params'), `${CARD_EXTENSION}.params`).card)
}

const NAME = 'A2A card'
/** Each costs a verification. */
export const MAX_SIGNATURES = 8

const object: Read<ExactObject> = (value: ExactJson | undefined, at) => {
  if (!isExactObject(value)) throw unexpected(at, 'an object', value)
  return value
}
const readSignatures = listOf(
  shape({ protected: text, signature: text, header: optional<ExactObject | undefined>(object, undefined) }),
)
const readCapabilities = optional(shape({ extensions: optional(listOf(object), []) }), { extensions: [] })
/** The native card has bounds of its own, and is longer than any other text may be. */
const readParams = shape({ card: nativeText })

function nativeText(value: ExactJson | undefined, at: string): string {
  if (typeof value !== 'string') throw unexpected(at, 'a text', value)
  return value
}
