/**
 * The bytes of an A2A card that its signatures cover: RFC 8785 of the card without `signatures`.
 *
 * Holds: members that A2A's schema neither requires nor marks as optional are left out where they hold their default, as
 * A2A asks for; all others, also those the schema does not know, are covered as they stand.
 *
 * @module
 * @see https://a2a-protocol.org/v1.0.0/specification/#841-canonicalization-requirements
 */
import canonicalize from 'canonicalize'
import { type ExactJson, type ExactObject, malformed } from '../core/exact-json.ts'
import { isExactObject } from '../core/json-shape.ts'

/** @throws {CtError} `ERR_ARTEFACT_INVALID` when the card holds what has no canonical form */
export function canonicalA2aCard(card: ExactObject): Uint8Array {
  const { signatures: _, ...content } = card
  return new TextEncoder().encode(canonicalJson(withoutDefaults(content, CARD)))
}

/** RFC 8785. @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function canonicalJson(value: ExactJson): string {
  const text = canonicalize(asDoubles(value))
  if (text === undefined) throw malformed('A2A card: expected JSON, found nothing')
  return text
}

/** What a member holds that has its default: an empty text, `false`, an empty list, an empty object. */
type Default = 'text' | 'flag' | 'list' | 'object'

/** Which members of an object may be left out, and which of its members are objects, or lists or maps of them. */
interface Schema {
  readonly droppable: Readonly<Record<string, Default>>
  readonly parts?: Readonly<Record<string, { readonly of: Schema; readonly as: 'object' | 'list' | 'map' }>>
}

const REQUIREMENT: Schema = {
  droppable: { schemes: 'object' },
  parts: { schemes: { of: { droppable: { list: 'list' } }, as: 'map' } },
}

const FLOWS: Schema = {
  droppable: {},
  parts: {
    authorizationCode: { of: { droppable: { refreshUrl: 'text', pkceRequired: 'flag' } }, as: 'object' },
    clientCredentials: { of: { droppable: { refreshUrl: 'text' } }, as: 'object' },
    implicit: { of: { droppable: { authorizationUrl: 'text', refreshUrl: 'text', scopes: 'object' } }, as: 'object' },
    password: { of: { droppable: { tokenUrl: 'text', refreshUrl: 'text', scopes: 'object' } }, as: 'object' },
    deviceCode: { of: { droppable: { refreshUrl: 'text' } }, as: 'object' },
  },
}

const SCHEME: Schema = {
  droppable: {},
  parts: {
    apiKeySecurityScheme: { of: { droppable: { description: 'text' } }, as: 'object' },
    httpAuthSecurityScheme: { of: { droppable: { description: 'text', bearerFormat: 'text' } }, as: 'object' },
    oauth2SecurityScheme: {
      of: {
        droppable: { description: 'text', oauth2MetadataUrl: 'text' },
        parts: { flows: { of: FLOWS, as: 'object' } },
      },
      as: 'object',
    },
    openIdConnectSecurityScheme: { of: { droppable: { description: 'text' } }, as: 'object' },
    mtlsSecurityScheme: { of: { droppable: { description: 'text' } }, as: 'object' },
  },
}

const CARD: Schema = {
  droppable: { securitySchemes: 'object', securityRequirements: 'list' },
  parts: {
    supportedInterfaces: { of: { droppable: { tenant: 'text' } }, as: 'list' },
    capabilities: {
      of: {
        droppable: { extensions: 'list' },
        parts: {
          extensions: { of: { droppable: { uri: 'text', description: 'text', required: 'flag' } }, as: 'list' },
        },
      },
      as: 'object',
    },
    securitySchemes: { of: SCHEME, as: 'map' },
    securityRequirements: { of: REQUIREMENT, as: 'list' },
    skills: {
      of: {
        droppable: { examples: 'list', inputModes: 'list', outputModes: 'list', securityRequirements: 'list' },
        parts: { securityRequirements: { of: REQUIREMENT, as: 'list' } },
      },
      as: 'list',
    },
  },
}

function withoutDefaults(value: ExactJson, schema: Schema): ExactJson {
  if (!isExactObject(value)) return value
  const kept = Object.entries(value).filter(([key, member]) => {
    const empty = Object.hasOwn(schema.droppable, key) ? schema.droppable[key] : undefined
    return empty === undefined || !isDefault(member, empty)
  })
  return Object.fromEntries(kept.map(([key, member]) => [key, part(member, schema, key)]))
}

function part(member: ExactJson, { parts = {} }: Schema, key: string): ExactJson {
  const known = Object.hasOwn(parts, key) ? parts[key] : undefined
  if (known === undefined) return member
  if (known.as === 'object') return withoutDefaults(member, known.of)
  if (known.as === 'list') {
    return Array.isArray(member) ? member.map((item: ExactJson) => withoutDefaults(item, known.of)) : member
  }
  if (!isExactObject(member)) return member
  return Object.fromEntries(Object.entries(member).map(([name, item]) => [name, withoutDefaults(item, known.of)]))
}

/** Of the member's own type alone: a card with another in its place is another card. */
function isDefault(value: ExactJson, empty: Default): boolean {
  switch (empty) {
    case 'text':
      return value === ''
    case 'flag':
      return value === false
    case 'list':
      return Array.isArray(value) && value.length === 0
    case 'object':
      return isExactObject(value) && Object.keys(value).length === 0
  }
}

/** RFC 8785 knows doubles alone: an integer that none can hold would share its form with its neighbour. */
function asDoubles(value: ExactJson): ExactJson {
  if (typeof value === 'bigint') {
    const double = Number(value)
    if (Number.isFinite(double) && BigInt(double) === value) return double
    throw malformed(`A2A card: expected integers that a double holds, found ${value}`)
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw malformed('A2A card: expected numbers that a double holds, found one out of range')
  }
  if (typeof value === 'string') return wellFormed(value)
  if (Array.isArray(value)) return value.map(asDoubles)
  if (!isExactObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [wellFormed(key), asDoubles(member)]))
}

function wellFormed(text: string): string {
  if (text.isWellFormed()) return text
  throw malformed('A2A card: expected valid Unicode, found half a surrogate pair')
}
