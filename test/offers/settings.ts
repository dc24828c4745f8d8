/**
 * What the sellers of the tests sell.
 *
 * @module
 */
import { u64 } from '../../src/core/u64.ts'
import { type OfferConfig, type OfferTerms } from '../../src/offers/config.ts'

/** Some Tuesday. */
export const START = 1_800_000_000

export const terms: OfferTerms = {
  kind: 'CloudApiQuota',
  models: ['m1', 'm2'],
  units: u64(1_000),
  minPrice: u64(100),
  currency: 'c',
  services: ['SafetyCheck', { Custom: 'static_analysis' }],
}

export const config: OfferConfig = {
  terms,
  serviceNames: ['safety_check', 'static_analysis'],
  ttlSeconds: u64(86_400),
  maxBids: 60,
  windowSeconds: u64(60),
}

export function withUnits(units: number | bigint): OfferConfig {
  return { ...config, terms: { ...terms, units: u64(units) } }
}
