/**
 * Capacity offers for the commands that verify and show them.
 *
 * @module
 */
import {
  CAPACITY_OFFER,
  type CapacityOffer,
  describeService,
  offerJson,
  openOffer,
  parseOffer,
} from '../../offers/index.ts'
import { type ArtefactReader } from './artefact-reading.ts'
import { debugText, debugTexts, type Field, shownTime } from './shown-fields.ts'

export const OFFER_READER: ArtefactReader = {
  name: CAPACITY_OFFER.name,
  read: (text) => {
    const sealed = parseOffer(text)
    const { body } = sealed
    return {
      json: offerJson(sealed),
      fields: () => offerFields(body),
      check: (options) => ({
        form: openOffer(sealed, options).form,
        facts: { holder: body.holder, expires_at: body.expiresAt },
        line: offerLine(body),
      }),
    }
  },
}

function offerLine({ holder, kind, models, units, minPrice, currency, expiresAt }: CapacityOffer): string {
  return [
    `holder=${holder}`,
    `kind=${kind}`,
    `models=${debugTexts(models)}`,
    `units=${units}`,
    `min_price=${minPrice}`,
    `currency=${debugText(currency)}`,
    `expires_at=${expiresAt}`,
  ].join('  ')
}

function offerFields(offer: CapacityOffer): readonly Field[] {
  return [
    ['holder', offer.holder],
    ['kind', offer.kind],
    ['models', ...offer.models],
    ['units', offer.units.toString()],
    ['least price', `${offer.minPrice} ${offer.currency}`],
    ['services', ...offer.services.map(describeService)],
    ['issued', shownTime(offer.issuedAt)],
    ['expires', shownTime(offer.expiresAt)],
  ]
}
