/**
 * Settings of the capacity offer, and of a bid.
 *
 * Holds: absent is off, and half an offer is a problem: nothing that an operator set is dropped in silence.
 *
 * @module
 */

import { lifetime, problemOf } from '../core/artefact.ts'
import {
  type Env,
  type EnvProblem,
  type EnvRow,
  invalid,
  missing,
  parseInteger,
  parseList,
  quote,
  readEnv,
} from '../core/env.ts'
import { type HolderId, type Parsed, parseHash } from '../core/ids.ts'
import { parseU64, type U64, type UnixSeconds, u64 } from '../core/u64.ts'
import { CAPACITY_BID, type CapacityBid, NO_TERMS } from './bid.ts'
import { CAPACITY_WORDS, type CapacityKind } from './capacity-kind.ts'
import { CAPACITY_OFFER, type CapacityOffer } from './offer.ts'
import { type ServiceKind, serviceKindOf } from './service-kind.ts'

export const OFFER_ENV = {
  kind: {
    name: 'CT_AGENT_OFFER_KIND',
    about: 'What kind of capacity is on sale',
    expects: 'cloud|local',
    parse: parseKind,
    flag: 'offer-kind',
  },
  models: {
    name: 'CT_AGENT_OFFER_MODELS',
    about: 'Models on sale',
    expects: 'a comma list of names',
    parse: parseList,
    flag: 'offer-models',
  },
  units: {
    name: 'CT_AGENT_OFFER_UNITS',
    about: 'Units on sale in all, until the book of sales is begun anew',
    expects: 'a whole number above 0',
    parse: parseAmount,
    flag: 'offer-units',
  },
  minPrice: {
    name: 'CT_AGENT_OFFER_MIN_PRICE',
    about: 'Least total price of one bid, however many units it is for',
    expects: 'a whole number',
    parse: parseU64,
    flag: 'offer-min-price',
  },
  currency: {
    name: 'CT_AGENT_OFFER_CURRENCY',
    about: 'What prices are counted in; any text',
    expects: 'a name',
    parse: parseName,
    flag: 'offer-currency',
  },
  ttlSeconds: {
    name: 'CT_AGENT_OFFER_TTL_SECS',
    about: 'Seconds for which a signed offer holds; it is signed again before they are over',
    expects: 'whole seconds',
    parse: parseAmount,
    fallback: '86400',
    flag: 'offer-ttl',
  },
  maxBids: {
    name: 'CT_AGENT_OFFER_MAX_BIDS',
    about: 'Valid bids that one peer may submit in a window; 0 refuses all',
    expects: 'a whole number',
    parse: parseInteger(0, 0xffff_ffff),
    fallback: '60',
  },
  windowSeconds: {
    name: 'CT_AGENT_OFFER_WINDOW_SECS',
    about: 'Seconds of such a window; 0 is one window for ever',
    expects: 'whole seconds',
    parse: parseU64,
    fallback: '60',
  },
  services: {
    name: 'CT_AGENT_OFFER_SERVICES',
    about: 'Services that the offer declares: no others are served while it stands',
    expects: 'a comma list of names',
    parse: parseList,
    flag: 'offer-services',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

export const BID_ENV = {
  kind: {
    name: 'CT_BID_KIND',
    about: 'What kind of capacity is bid for',
    expects: 'cloud|local',
    parse: parseKind,
    flag: 'kind',
  },
  model: {
    name: 'CT_BID_MODEL',
    about: 'Model that is bid for, as the offer names it',
    expects: 'a name',
    parse: parseName,
    flag: 'model',
  },
  units: {
    name: 'CT_BID_UNITS',
    about: 'Units that are bid for',
    expects: 'a whole number above 0',
    parse: parseAmount,
    flag: 'units',
  },
  price: {
    name: 'CT_BID_PRICE',
    about: 'What is paid for all units together, in the currency of the offer',
    expects: 'a whole number',
    parse: parseU64,
    flag: 'price',
  },
  service: {
    name: 'CT_BID_SERVICE',
    about: 'Service that the units are for; any that the offer declares unless set',
    expects: 'a name',
    parse: parseName,
    flag: 'service',
  },
  ttlSeconds: {
    name: 'CT_BID_TTL_SECS',
    about: 'Seconds for which the bid holds',
    expects: 'whole seconds',
    parse: parseAmount,
    fallback: '300',
    flag: 'ttl',
  },
  terms: {
    name: 'CT_BID_TERMS',
    about: 'SHA-256 of the terms that the bidder accepts; none unless set',
    expects: '64 hex',
    parse: parseHash,
    flag: 'terms',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

/** What is the same in every offer that is signed. */
export interface OfferTerms {
  readonly kind: CapacityKind
  readonly models: readonly string[]
  readonly units: U64
  readonly minPrice: U64
  readonly currency: string
  readonly services: readonly ServiceKind[]
}

export interface OfferConfig {
  readonly terms: OfferTerms
  /** The declared services as the operator wrote them. */
  readonly serviceNames: readonly string[]
  readonly ttlSeconds: U64
  readonly maxBids: number
  readonly windowSeconds: U64
}

/** `undefined` when no offer is configured, or when there is a problem with it. */
export function readOfferConfig(env: Env, problems: EnvProblem[]): OfferConfig | undefined {
  const before = problems.length
  const values = readEnv(OFFER_ENV, env, problems)
  const isSet = ({ name }: EnvRow<unknown>): boolean => (env[name] ?? '').trim() !== ''
  if (!Object.values(OFFER_ENV).some(isSet)) return undefined
  const { kind, units, minPrice, currency } = values
  for (const row of REQUIRED) if (!isSet(row)) problems.push(missing(row))
  const models = unique(values.models ?? [])
  if (isSet(OFFER_ENV.models) && models.length === 0) {
    problems.push(invalid(OFFER_ENV.models, 'expected at least one model, found none'))
  }
  if (problems.length > before) return undefined
  if (kind === undefined || units === undefined || minPrice === undefined || currency === undefined) return undefined
  const serviceNames = unique(values.services ?? [])
  const terms = { kind, models, units, minPrice, currency, services: serviceNames.map(serviceKindOf) }
  const { ttlSeconds, maxBids, windowSeconds } = values
  const config = { terms, serviceNames, ttlSeconds, maxBids, windowSeconds }
  const problem = problemOf(CAPACITY_OFFER, offerOf(config, ANYBODY, u64(0)))
  if (problem === undefined) return config
  const { models: row, currency: currency_id, services } = OFFER_ENV
  problems.push(invalid(rowOf(problem, { models: row, currency_id, services }) ?? row, problem))
  return undefined
}

/** The offer of all units that the settings describe, from now on. */
export function offerOf({ terms, ttlSeconds }: OfferConfig, holder: HolderId, now: UnixSeconds): CapacityOffer {
  return { holder, ...terms, ...lifetime(now, ttlSeconds) }
}

/** What is the same in every bid that is signed. */
export type BidTerms = Pick<CapacityBid, 'kind' | 'model' | 'units' | 'totalPrice' | 'service' | 'termsAck'>

export interface BidConfig {
  readonly terms: BidTerms
  readonly ttlSeconds: U64
}

/**
 * `undefined` when there is a problem: what is neither set nor among the defaults is one.
 *
 * @param defaults what an offer has only one of
 */
export function readBidConfig(
  env: Env,
  problems: EnvProblem[],
  defaults: Partial<Pick<BidTerms, 'kind' | 'model'>> = {},
): BidConfig | undefined {
  const before = problems.length
  const values = readEnv(BID_ENV, env, problems)
  const malformed = new Set(problems.slice(before).map(({ name }) => name))
  const needed = <Value>(row: EnvRow<Value>, value: Value | undefined): Value | undefined => {
    if (value === undefined && !malformed.has(row.name)) problems.push(missing(row))
    return value
  }
  const kind = needed(BID_ENV.kind, values.kind ?? defaults.kind)
  const model = needed(BID_ENV.model, values.model ?? defaults.model)
  const units = needed(BID_ENV.units, values.units)
  const totalPrice = needed(BID_ENV.price, values.price)
  if (problems.length > before) return undefined
  if (kind === undefined || model === undefined || units === undefined || totalPrice === undefined) return undefined
  const service = values.service === undefined ? undefined : serviceKindOf(values.service)
  const termsAck = values.terms ?? NO_TERMS
  const config = { terms: { kind, model, units, totalPrice, service, termsAck }, ttlSeconds: values.ttlSeconds }
  const problem = problemOf(CAPACITY_BID, bidOf(config, ANYBODY, u64(0)))
  if (problem === undefined) return config
  problems.push(invalid(rowOf(problem, { service: BID_ENV.service }) ?? BID_ENV.model, problem))
  return undefined
}

/** The bid that the settings describe, from now on. */
export function bidOf({ terms, ttlSeconds }: BidConfig, bidder: HolderId, now: UnixSeconds): CapacityBid {
  return { bidder, ...terms, ...lifetime(now, ttlSeconds) }
}

/** The variable of the member that the problem names. */
function rowOf(problem: string, rows: Readonly<Record<string, EnvRow<unknown>>>): EnvRow<unknown> | undefined {
  const [, member = ''] = /^[a-z ]+\.(\w+)/.exec(problem) ?? []
  return Object.hasOwn(rows, member) ? rows[member] : undefined
}

/** Whose key it is makes no difference to what readers take. */
const ANYBODY = '0'.repeat(64) as HolderId

const REQUIRED: readonly EnvRow<unknown>[] = [
  OFFER_ENV.kind,
  OFFER_ENV.models,
  OFFER_ENV.units,
  OFFER_ENV.minPrice,
  OFFER_ENV.currency,
]

function parseKind(text: string): Parsed<CapacityKind> {
  const word = text.trim()
  const kind = Object.hasOwn(CAPACITY_WORDS, word) ? CAPACITY_WORDS[word] : undefined
  if (kind !== undefined) return { value: kind }
  return { problem: `expected ${Object.keys(CAPACITY_WORDS).join('|')}, found ${quote(text)}` }
}

function parseName(text: string): Parsed<string> {
  return { value: text.trim() }
}

function parseAmount(text: string): Parsed<U64> {
  const parsed = parseU64(text)
  return 'value' in parsed && parsed.value === 0n ? { problem: 'expected more than 0, found 0' } : parsed
}

function unique(names: readonly string[]): readonly string[] {
  return [...new Set(names)]
}
