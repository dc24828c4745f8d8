/**
 * The offer that a seller's book keeps: signed once, used again while it holds, and signed anew in good time.
 *
 * Holds: what was sold is never forgotten by a new signature. An offer is signed over the units that are left.
 *
 * @module
 */
import { checkSignature, isFresh, lifetime, seal, type Verified } from '../core/artefact.ts'
import { writeExactJson } from '../core/exact-json.ts'
import { type HolderKey } from '../core/keys.ts'
import { type U64, type UnixSeconds, u64 } from '../core/u64.ts'
import { type BookPage } from './book.ts'
import { type OfferConfig } from './config.ts'
import { CAPACITY_OFFER, type CapacityOffer, offerJson, parseOffer } from './offer.ts'
import { serviceJson } from './service-kind.ts'

/** The offer that stands now; made, signed and kept if there is none. */
export function standingOffer(
  page: BookPage,
  config: OfferConfig,
  holder: HolderKey,
  now: UnixSeconds,
): Verified<CapacityOffer> {
  const kept = page.offer()
  const wanted = describeTerms(config)
  if (kept?.terms === wanted) {
    const offer = openOwn(kept.offer, holder)
    if (offer !== undefined && isFresh(offer.body, now)) return offer
  }
  const { units, ...others } = config.terms
  const left = unitsLeft(units, page.sold())
  const body = { holder: holder.id, ...others, units: left, ...lifetime(now, config.ttlSeconds) }
  const offer = seal(CAPACITY_OFFER, body, holder.secret)
  page.keepOffer({ offer: writeExactJson(offerJson(offer)), terms: wanted })
  return offer
}

/** Units of these that are not sold yet. */
export function unitsLeft(units: U64, sold: U64): U64 {
  return u64(units > sold ? units - sold : 0n)
}

/** What was kept is ours to change, and may have been: it counts only if this holder signed it. */
function openOwn(text: string, holder: HolderKey): Verified<CapacityOffer> | undefined {
  try {
    const sealed = parseOffer(text)
    const form = checkSignature(CAPACITY_OFFER, sealed, { signer: holder.id })
    return sealed.body.holder === holder.id ? ({ ...sealed, form } as Verified<CapacityOffer>) : undefined
  } catch {
    return undefined
  }
}

/** Everything whose change must show in the offer; how long it holds is part of that. */
function describeTerms({ terms, ttlSeconds }: OfferConfig): string {
  const { kind, models, units, minPrice, currency, services } = terms
  return writeExactJson({ kind, models, units, minPrice, currency, services: services.map(serviceJson), ttlSeconds })
}
