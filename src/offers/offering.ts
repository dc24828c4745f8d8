/**
 * The offer that a seller's book keeps: signed once, used again while it holds, and signed anew in good time.
 *
 * Holds: what was sold is never forgotten by a new signature. An offer is signed over the units that are left.
 *
 * @module
 */
import { isFresh, lifetime, openUntimed, seal, type Verified } from '../core/artefact.ts'
import { writeExactJson } from '../core/exact-json.ts'
import { type HolderKey, verifyMany } from '../core/keys.ts'
import { type U64, type UnixSeconds, u64 } from '../core/u64.ts'
import { type BookPage, type BookView } from './book.ts'
import { type OfferConfig } from './config.ts'
import { CAPACITY_OFFER, type CapacityOffer, offerJson, parseOffer } from './offer.ts'
import { serviceJson } from './service-kind.ts'

export interface Offering {
  /** The kept offer, unless it is time to make another. */
  readonly kept: (page: BookView, now: UnixSeconds) => Verified<CapacityOffer> | undefined
  /** The offer that stands now; made, signed and kept if there is none. */
  readonly standing: (page: BookPage, now: UnixSeconds) => Verified<CapacityOffer>
}

export function createOffering(config: OfferConfig, holder: HolderKey): Offering {
  const wanted = describeTerms(config)
  const { units, ...others } = config.terms
  // A signature is checked once: the same text is the same offer.
  let last: { readonly text: string; readonly offer: Verified<CapacityOffer> } | undefined

  const openOwn = (text: string): Verified<CapacityOffer> | undefined => {
    if (last?.text === text) return last.offer
    const offer = openKept(text, holder)
    if (offer !== undefined) last = { text, offer }
    return offer
  }

  const kept = (page: BookView, now: UnixSeconds): Verified<CapacityOffer> | undefined => {
    const found = page.offer()
    const offer = found?.terms === wanted ? openOwn(found.offer) : undefined
    return offer !== undefined && isFresh(offer.body, now) ? offer : undefined
  }

  const make = (page: BookPage, now: UnixSeconds): Verified<CapacityOffer> => {
    const left = unitsLeft(units, page.sold())
    const body = { holder: holder.id, ...others, units: left, ...lifetime(now, config.ttlSeconds) }
    const offer = seal(CAPACITY_OFFER, body, holder.secret)
    const text = writeExactJson(offerJson(offer))
    page.keepOffer({ offer: text, terms: wanted })
    last = { text, offer }
    return offer
  }

  return { kept, standing: (page, now) => kept(page, now) ?? make(page, now) }
}

/** Units of these that are not sold yet. */
export function unitsLeft(units: U64, sold: U64): U64 {
  return u64(units > sold ? units - sold : 0n)
}

/** What was kept is ours to change, and may have been: it counts only if this holder signed it. */
function openKept(text: string, holder: HolderKey): Verified<CapacityOffer> | undefined {
  try {
    return openUntimed(CAPACITY_OFFER, parseOffer(text), { signer: holder.id, verifier: verifyMany })
  } catch {
    return undefined
  }
}

/** Everything whose change must show in the offer; how long it holds is part of that. */
function describeTerms({ terms, ttlSeconds }: OfferConfig): string {
  const { kind, models, units, minPrice, currency, services } = terms
  return writeExactJson({ kind, models, units, minPrice, currency, services: services.map(serviceJson), ttlSeconds })
}
