/**
 * The usage receipt: what was consumed of a match, and hashes of what was asked and answered. Both parties sign the
 * same bytes; with one signature it is a draft.
 *
 * JSON with the members `provider, consumer, kind, model, units_consumed, match_ref, issued_at, request_hash,
 * response_hash, provider_sig, consumer_sig`.
 *
 * @module
 */
import { type ArtefactKind, checkSignature, checkTime, type OpenOptions } from '../core/artefact.ts'
import { encodeUtf8, toHex } from '../core/bytes.ts'
import { type ExactObject, malformed, writeExactJson } from '../core/exact-json.ts'
import { type Hash, type HolderId, parseHash, parseSignature, type Signature } from '../core/ids.ts'
import { hexAs, holderId, optional, parseAs, type Read, shape, text, wholeNumber } from '../core/json-shape.ts'
import { sha256 } from '../core/keys.ts'
import { Preimage } from '../core/preimage.ts'
import { type U64, type UnixSeconds } from '../core/u64.ts'
import { CAPACITY_TAGS, type CapacityKind, capacityKind } from './capacity-kind.ts'
import { type CapacityMatch } from './clearing.ts'
import { refuseLongRequest } from './request.ts'

export interface UsageReceipt {
  readonly provider: HolderId
  readonly consumer: HolderId
  readonly kind: CapacityKind
  readonly model: string
  readonly unitsConsumed: U64
  readonly matchRef: Hash
  readonly issuedAt: UnixSeconds
  /** SHA-256 of the UTF-8 text of the input. */
  readonly requestHash: Hash
  /** SHA-256 of the UTF-8 text of the output. */
  readonly responseHash: Hash
}

export type ReceiptParty = 'provider' | 'consumer'

/** A receipt with the signatures it has so far, unchecked. */
export interface SignedReceipt {
  readonly body: UsageReceipt
  readonly signatures: Readonly<Partial<Record<ReceiptParty, Signature>>>
}

export const USAGE_RECEIPT: ArtefactKind<UsageReceipt> = {
  name: 'usage receipt',
  domain: 'framed',
  preimage: (body, domain) => addReceipt(new Preimage('ct-usage-receipt-v1', domain), body).bytes(),
  validity: ({ issuedAt }) => ({ issuedAt }),
  signers: ({ provider, consumer }) => [provider, consumer],
  refuseUnreadable: ({ body, signature: made }) => {
    const json = receiptJson({ body, signatures: { provider: made, consumer: made } })
    parseReceipt(writeExactJson(json))
    refuseLongRequest('receipt', json, 'usage receipt')
  },
}

/** The body's fields: after the domain they are signed, before the signatures they are the binary form. */
export function addReceipt(preimage: Preimage, body: UsageReceipt): Preimage {
  return preimage
    .id(body.provider)
    .id(body.consumer)
    .tag(CAPACITY_TAGS[body.kind])
    .text(body.model)
    .u64(body.unitsConsumed)
    .id(body.matchRef)
    .u64(body.issuedAt)
    .id(body.requestHash)
    .id(body.responseHash)
}

const signature = hexAs(parseSignature)

const members = shape({
  provider: holderId,
  consumer: holderId,
  kind: capacityKind,
  model: text,
  units_consumed: wholeNumber,
  match_ref: hexAs(parseHash),
  issued_at: wholeNumber,
  request_hash: hexAs(parseHash),
  response_hash: hexAs(parseHash),
  provider_sig: optional<Signature | undefined>(signature, undefined),
  consumer_sig: optional<Signature | undefined>(signature, undefined),
})

export const readReceipt: Read<SignedReceipt> = (value, at) => {
  const read = members(value, at)
  return {
    body: {
      provider: read.provider,
      consumer: read.consumer,
      kind: read.kind,
      model: read.model,
      unitsConsumed: read.units_consumed,
      matchRef: read.match_ref,
      issuedAt: read.issued_at,
      requestHash: read.request_hash,
      responseHash: read.response_hash,
    },
    signatures: {
      ...(read.provider_sig === undefined ? {} : { provider: read.provider_sig }),
      ...(read.consumer_sig === undefined ? {} : { consumer: read.consumer_sig }),
    },
  }
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function parseReceipt(json: string): SignedReceipt {
  return parseAs(readReceipt, json, USAGE_RECEIPT.name)
}

/** Members in the order in which the original writes them; a signature that is missing is left out. */
export function receiptJson({ body, signatures }: SignedReceipt): ExactObject {
  return {
    provider: body.provider,
    consumer: body.consumer,
    kind: body.kind,
    model: body.model,
    units_consumed: body.unitsConsumed,
    match_ref: body.matchRef,
    issued_at: body.issuedAt,
    request_hash: body.requestHash,
    response_hash: body.responseHash,
    ...(signatures.provider === undefined ? {} : { provider_sig: signatures.provider }),
    ...(signatures.consumer === undefined ? {} : { consumer_sig: signatures.consumer }),
  }
}

/**
 * Checks that there are two parties, that these have signed, then their signatures, then the time.
 *
 * @throws {CtError} `ERR_ARTEFACT_INVALID` when one of them has not signed or both are one, `ERR_SIGNATURE_INVALID`,
 * `ERR_ARTEFACT_EARLY`
 */
export function checkReceipt(
  { body, signatures }: SignedReceipt,
  parties: readonly ReceiptParty[],
  options: Omit<OpenOptions, 'signer'>,
): void {
  if (body.provider === body.consumer) throw malformed('usage receipt: expected two parties, found one key for both')
  const present = parties.map((party) => {
    const signature = signatures[party]
    if (signature === undefined) {
      throw malformed(`usage receipt: expected the signature of the ${party}, found none`)
    }
    return { party, signature }
  })
  for (const { party, signature } of present) {
    const kind = { ...USAGE_RECEIPT, name: `usage receipt (${party})` }
    checkSignature(kind, { body, signature }, { ...options, signer: body[party] })
  }
  checkTime(USAGE_RECEIPT, body, options)
}

/** What was consumed of a match, and the texts that went in and out. */
export interface Consumption {
  readonly units: U64
  readonly input: string
  readonly output: string
}

/** The receipt for a part of the match, for its parties to sign. @throws {CtError} as {@link hashOfText} */
export function receiptOf(
  { provider, consumer, kind, model, matchRef }: CapacityMatch,
  { units, input, output }: Consumption,
  issuedAt: UnixSeconds,
): UsageReceipt {
  return {
    provider,
    consumer,
    kind,
    model,
    unitsConsumed: units,
    matchRef,
    issuedAt,
    requestHash: hashOfText(input),
    responseHash: hashOfText(output),
  }
}

/**
 * Hash of an input or an output, as receipts hold it.
 *
 * @throws {CtError} `ERR_ARTEFACT_INVALID` for half a surrogate pair: two texts would have one hash
 */
export function hashOfText(content: string): Hash {
  if (!content.isWellFormed()) throw malformed('text to hash: expected valid Unicode, found half a surrogate pair')
  return toHex(sha256(encodeUtf8(content))) as Hash
}
