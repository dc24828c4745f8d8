/**
 * The capacity offer: what an agent sells, the least it takes, and the only services it may serve while it stands.
 *
 * Signed by the holder who sells. JSON with the members `holder_pubkey, kind, models, units_available, min_price,
 * currency_id, issued_at, expires_at, services, signature`.
 *
 * @module
 */
import { type ArtefactKind, type OpenOptions, open, type Sealed, type Verified } from '../core/artefact.ts'
import { type ExactObject, writeExactJson } from '../core/exact-json.ts'
import { type HolderId, parseSignature } from '../core/ids.ts'
import { hexAs, holderId, listOf, optional, parseAs, type Read, shape, text, wholeNumber } from '../core/json-shape.ts'
import { Preimage } from '../core/preimage.ts'
import { type U64, type UnixSeconds } from '../core/u64.ts'
import { CAPACITY_TAGS, type CapacityKind, capacityKind } from './capacity-kind.ts'
import { addService, type ServiceKind, serviceJson, serviceKind } from './service-kind.ts'

export interface CapacityOffer {
  readonly holder: HolderId
  readonly kind: CapacityKind
  readonly models: readonly string[]
  readonly units: U64
  /** Least total price of one bid, however many units it is for. */
  readonly minPrice: U64
  readonly currency: string
  readonly issuedAt: UnixSeconds
  readonly expiresAt: UnixSeconds
  readonly services: readonly ServiceKind[]
}

export const CAPACITY_OFFER: ArtefactKind<CapacityOffer> = {
  name: 'capacity offer',
  domain: 'framed',
  preimage: ({ holder, kind, models, units, minPrice, currency, issuedAt, expiresAt, services }, domain) =>
    new Preimage('ct-capacity-offer-v1', domain)
      .id(holder)
      .tag(CAPACITY_TAGS[kind])
      .list(models, (preimage, model) => preimage.text(model))
      .u64(units)
      .u64(minPrice)
      .text(currency)
      .u64(issuedAt)
      .u64(expiresAt)
      .list(services, addService)
      .bytes(),
  validity: ({ issuedAt, expiresAt }) => ({ issuedAt, expiresAt }),
  signers: ({ holder }) => [holder],
  refuseUnreadable: (sealed) => {
    parseOffer(writeExactJson(offerJson(sealed)))
  },
}

const members = shape({
  holder_pubkey: holderId,
  kind: capacityKind,
  models: listOf(text),
  units_available: wholeNumber,
  min_price: wholeNumber,
  currency_id: text,
  issued_at: wholeNumber,
  expires_at: wholeNumber,
  services: optional(listOf(serviceKind), []),
  signature: hexAs(parseSignature),
})

export const readOffer: Read<Sealed<CapacityOffer>> = (value, at) => {
  const read = members(value, at)
  return {
    body: {
      holder: read.holder_pubkey,
      kind: read.kind,
      models: read.models,
      units: read.units_available,
      minPrice: read.min_price,
      currency: read.currency_id,
      issuedAt: read.issued_at,
      expiresAt: read.expires_at,
      services: read.services,
    },
    signature: read.signature,
  }
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function parseOffer(json: string): Sealed<CapacityOffer> {
  return parseAs(readOffer, json, CAPACITY_OFFER.name)
}

/** Members in the order in which the original writes them. */
export function offerJson({ body, signature }: Sealed<CapacityOffer>): ExactObject {
  return {
    holder_pubkey: body.holder,
    kind: body.kind,
    models: body.models,
    units_available: body.units,
    min_price: body.minPrice,
    currency_id: body.currency,
    issued_at: body.issuedAt,
    expires_at: body.expiresAt,
    services: body.services.map(serviceJson),
    signature,
  }
}

/** Checks that the holder whom the offer names signed it, and that it holds now. @throws {CtError} as {@link open} */
export function openOffer(
  sealed: Sealed<CapacityOffer>,
  options: Omit<OpenOptions, 'signer'>,
): Verified<CapacityOffer> {
  return open(CAPACITY_OFFER, sealed, { ...options, signer: sealed.body.holder })
}
