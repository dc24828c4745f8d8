/**
 * The capacity bid: how many units of which model somebody wants, for how much in all.
 *
 * Signed by the bidder. It names no seller and no offer, so a seller takes it from its bidder alone. JSON with the
 * members `bidder, kind, model, units, total_price, issued_at, expires_at, terms_ack, service, signature`.
 *
 * @module
 */
import { type ArtefactKind, type OpenOptions, open, type Sealed, type Verified } from '../core/artefact.ts'
import { type ExactObject, writeExactJson } from '../core/exact-json.ts'
import { type Hash, type HolderId, parseHash, parseSignature } from '../core/ids.ts'
import { hexAs, holderId, parseAs, type Read, shape, text, wholeNumber } from '../core/json-shape.ts'
import { Preimage } from '../core/preimage.ts'
import { type U64, type UnixSeconds } from '../core/u64.ts'
import { CAPACITY_TAGS, type CapacityKind, capacityKind } from './capacity-kind.ts'
import { refuseLongRequest } from './request.ts'
import { addService, type ServiceKind, serviceJson, serviceKind } from './service-kind.ts'

export interface CapacityBid {
  readonly bidder: HolderId
  readonly kind: CapacityKind
  readonly model: string
  readonly units: U64
  /** For all units together. */
  readonly totalPrice: U64
  readonly issuedAt: UnixSeconds
  readonly expiresAt: UnixSeconds
  /** Hash of the terms that the bidder accepts; {@link NO_TERMS} for none. */
  readonly termsAck: Hash
  readonly service: ServiceKind | undefined
}

export const NO_TERMS = '0'.repeat(64) as Hash

export const CAPACITY_BID: ArtefactKind<CapacityBid> = {
  name: 'capacity bid',
  domain: 'framed',
  preimage: ({ bidder, kind, model, units, totalPrice, issuedAt, expiresAt, termsAck, service }, domain) => {
    const preimage = new Preimage('ct-capacity-bid-v1', domain)
      .id(bidder)
      .tag(CAPACITY_TAGS[kind])
      .text(model)
      .u64(units)
      .u64(totalPrice)
      .u64(issuedAt)
      .u64(expiresAt)
      .id(termsAck)
      .tag(service === undefined ? 0 : 1)
    if (service !== undefined) addService(preimage, service)
    return preimage.bytes()
  },
  validity: ({ issuedAt, expiresAt }) => ({ issuedAt, expiresAt }),
  signers: ({ bidder }) => [bidder],
  refuseUnreadable: (sealed) => {
    parseBid(writeExactJson(bidJson(sealed)))
    refuseLongRequest('bid', bidJson(sealed), 'capacity bid')
  },
}

const members = shape({
  bidder: holderId,
  kind: capacityKind,
  model: text,
  units: wholeNumber,
  total_price: wholeNumber,
  issued_at: wholeNumber,
  expires_at: wholeNumber,
  terms_ack: hexAs(parseHash),
  service: (value, at): ServiceKind | undefined =>
    value === undefined || value === null ? undefined : serviceKind(value, at),
  signature: hexAs(parseSignature),
})

export const readBid: Read<Sealed<CapacityBid>> = (value, at) => {
  const read = members(value, at)
  return {
    body: {
      bidder: read.bidder,
      kind: read.kind,
      model: read.model,
      units: read.units,
      totalPrice: read.total_price,
      issuedAt: read.issued_at,
      expiresAt: read.expires_at,
      termsAck: read.terms_ack,
      service: read.service,
    },
    signature: read.signature,
  }
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function parseBid(json: string): Sealed<CapacityBid> {
  return parseAs(readBid, json, CAPACITY_BID.name)
}

/** Members in the order in which the original writes them. */
export function bidJson({ body, signature }: Sealed<CapacityBid>): ExactObject {
  return {
    bidder: body.bidder,
    kind: body.kind,
    model: body.model,
    units: body.units,
    total_price: body.totalPrice,
    issued_at: body.issuedAt,
    expires_at: body.expiresAt,
    terms_ack: body.termsAck,
    service: body.service === undefined ? null : serviceJson(body.service),
    signature,
  }
}

/** Checks that the bidder whom the bid names signed it, and that it holds now. @throws {CtError} as {@link open} */
export function openBid(sealed: Sealed<CapacityBid>, options: Omit<OpenOptions, 'signer'>): Verified<CapacityBid> {
  return open(CAPACITY_BID, sealed, { ...options, signer: sealed.body.bidder })
}
