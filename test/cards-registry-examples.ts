/**
 * The examples of docs/cards-registry.md, as the program has them.
 *
 * @module
 */
import { cardJson, sealCard } from '../src/cards/index.ts'
import {
  type CardAnswer,
  type CardRequest,
  encodeCardAnswer,
  encodeCardRequest,
  MAX_CARD_ANSWER_BYTES,
  MAX_CARD_REQUEST_BYTES,
} from '../src/channel/card-registry/messages.ts'
import { encodeLengthFrame } from '../src/channel/rendezvous/framing.ts'
import { lifetime } from '../src/core/artefact.ts'
import { writeExactJson } from '../src/core/exact-json.ts'
import { holderKey, SecretKey } from '../src/core/keys.ts'
import { u64 } from '../src/core/u64.ts'

/** The holder whose secret key is 32 times the byte 2. */
export const HOLDER = holderKey(new SecretKey(Buffer.alloc(32, 2)))
const BODY = { holder: HOLDER.id, roleTags: ['planner'], skills: [], cells: [], channels: [] }
export const CARD = writeExactJson(
  cardJson(sealCard({ ...BODY, ...lifetime(u64(1_999_999_000), u64(1_000)) }, HOLDER.secret)),
)

export const REQUESTS: Readonly<Record<string, CardRequest>> = {
  publish: { kind: 'publish', card: CARD },
  withdraw: { kind: 'withdraw' },
  find: { kind: 'find', role: 'planner', limit: 64 },
  'find-next': { kind: 'find', role: 'planner', skill: 'plan', limit: 2, after: HOLDER.id },
}

export const ANSWERS: Readonly<Record<string, CardAnswer>> = {
  published: { kind: 'published', until: u64(2_000_000_000) },
  withdrawn: { kind: 'withdrawn', found: true },
  found: { kind: 'found', cards: [CARD] },
  'found-more': { kind: 'found', cards: [], next: HOLDER.id },
  refused: {
    kind: 'refused',
    code: 'ERR_PEER_BUSY',
    category: 'busy',
    reason: 'this address asks too often',
    retryAfterMs: 8_000,
  },
}

export function bytesOfExample(name: string): Uint8Array {
  const request = Object.hasOwn(REQUESTS, name) ? REQUESTS[name] : undefined
  if (request !== undefined) return encodeLengthFrame(encodeCardRequest(request), MAX_CARD_REQUEST_BYTES)
  const answer = Object.hasOwn(ANSWERS, name) ? ANSWERS[name] : undefined
  if (answer === undefined) throw new TypeError(`expected an example, found ${name}`)
  return encodeLengthFrame(encodeCardAnswer(answer), MAX_CARD_ANSWER_BYTES)
}
