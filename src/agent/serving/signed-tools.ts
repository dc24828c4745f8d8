/**
 * The tools that show and take signed artefacts: `agent/card`, `auction/offer`, `auction/bid`.
 *
 * Holds: members are in alphabetical order, as the original writes them in results, and integers keep every digit.
 *
 * @module
 */
import { type AgentCard, a2aCard, cardJson, signA2aCard } from '../../cards/index.ts'
import { type Verified } from '../../core/artefact.ts'
import { CtError } from '../../core/errors.ts'
import { type ExactJson, toJsonValue } from '../../core/exact-json.ts'
import { isJsonObject, type JsonValue } from '../../core/json.ts'
import { isExactObject } from '../../core/json-shape.ts'
import { type HolderKey } from '../../core/keys.ts'
import { type Log } from '../../core/log.ts'
import { VERSION } from '../../core/version.ts'
import { type ObjectSchema, type Tool } from '../../mcp/index.ts'
import { matchJson, offerJson, type Seller } from '../../offers/index.ts'
import { hideLocalErrors } from './local-errors.ts'
import { loggingRefusal } from './refusal-log.ts'

const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const

/** @param card the card that stands now */
export function cardTool(card: () => Verified<AgentCard>, { secret }: HolderKey): Tool {
  return {
    name: 'agent/card',
    description: "the agent's holder-signed AgentCard — identity over the authenticated channel",
    inputSchema: {
      type: 'object',
      properties: { form: { type: 'string', enum: ['native', 'a2a'], default: 'native' } },
    },
    annotations: READ_ONLY,
    idempotent: true,
    call: async (args) => {
      const form = isJsonObject(args) ? (args['form'] ?? 'native') : 'native'
      if (form === 'a2a') return inOrder(await signA2aCard(a2aCard(card(), { version: VERSION }), secret))
      if (form === 'native') return inOrder(cardJson(card()))
      throw new CtError('ERR_CALL_INVALID', 'expected `form` to be "native" or "a2a"')
    },
  }
}

/** @param log has the bids that are refused */
export function auctionTools(seller: Seller, log: Pick<Log, 'info' | 'debug'>): readonly Tool[] {
  return [
    {
      name: 'auction/offer',
      description: "the agent's holder-signed CapacityOffer — its advertised idle capacity + floor terms",
      inputSchema: { type: 'object', properties: {} },
      annotations: READ_ONLY,
      idempotent: true,
      call: () => hideLocalErrors(() => inOrder(offerJson(seller.offer()))),
    },
    {
      name: 'auction/bid',
      description: 'submit a signed CapacityBid; returns the cleared CapacityMatch, or a no-match tool error',
      inputSchema: BID_SCHEMA,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      idempotent: true,
      call: (_, { argumentsText, peer }) =>
        loggingRefusal(log, 'auction.refused', peer, () => inOrder(matchJson(seller.bid(argumentsText, peer)))),
    },
  ]
}

const BID_SCHEMA: ObjectSchema = {
  type: 'object',
  properties: {
    bid: { type: 'object', description: 'CapacityBid, signed by the caller: ct-agent bid make' },
  },
  required: ['bid'],
}

function inOrder(value: ExactJson): JsonValue {
  return toJsonValue(sorted(value))
}

function sorted(value: ExactJson): ExactJson {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isExactObject(value)) return value
  const entries = Object.entries(value).map(([key, member]) => [key, sorted(member)] as const)
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)))
}
