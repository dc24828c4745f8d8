/**
 * The signed acceptance: somebody's decision on a proposal, by its hash.
 *
 * Signed by the accepter. JSON with the members `accepter, proposer, decision, proposal_hash, requires_response_by,
 * accepter_sig`.
 *
 * @module
 */
import { type ArtefactKind, type OpenOptions, open, type Sealed, type Verified } from '../core/artefact.ts'
import { type ExactObject } from '../core/exact-json.ts'
import { type Hash, type HolderId, parseHash, parseSignature } from '../core/ids.ts'
import { hexAs, holderId, oneOf, parseAs, type Read, shape, wholeNumber } from '../core/json-shape.ts'
import { Preimage } from '../core/preimage.ts'
import { type UnixSeconds } from '../core/u64.ts'

export type Decision = 'accept' | 'reject' | 'counter'

export interface Acceptance {
  readonly accepter: HolderId
  readonly proposer: HolderId
  readonly decision: Decision
  /** SHA-256 of the UTF-8 text of the proposal. */
  readonly proposalHash: Hash
  /** The proposal's deadline; the decision itself does not lapse. */
  readonly requiresResponseBy: UnixSeconds
}

const DECISION_TAGS: Readonly<Record<Decision, number>> = { accept: 0, reject: 1, counter: 2 }

export const ACCEPTANCE: ArtefactKind<Acceptance> = {
  name: 'signed acceptance',
  domain: 'framed',
  preimage: ({ accepter, proposer, decision, proposalHash, requiresResponseBy }, domain) =>
    new Preimage('ct-proposal-acceptance-v1', domain)
      .id(accepter)
      .id(proposer)
      .tag(DECISION_TAGS[decision])
      .id(proposalHash)
      .u64(requiresResponseBy)
      .bytes(),
  validity: () => ({}),
  signers: ({ accepter }) => [accepter],
}

const members = shape({
  accepter: holderId,
  proposer: holderId,
  decision: oneOf<Decision>({ accept: 'accept', reject: 'reject', counter: 'counter' }),
  proposal_hash: hexAs(parseHash),
  requires_response_by: wholeNumber,
  accepter_sig: hexAs(parseSignature),
})

export const readAcceptance: Read<Sealed<Acceptance>> = (value, at) => {
  const read = members(value, at)
  return {
    body: {
      accepter: read.accepter,
      proposer: read.proposer,
      decision: read.decision,
      proposalHash: read.proposal_hash,
      requiresResponseBy: read.requires_response_by,
    },
    signature: read.accepter_sig,
  }
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function parseAcceptance(json: string): Sealed<Acceptance> {
  return parseAs(readAcceptance, json, ACCEPTANCE.name)
}

/** Members in the order in which the original writes them. */
export function acceptanceJson({ body, signature }: Sealed<Acceptance>): ExactObject {
  return {
    accepter: body.accepter,
    proposer: body.proposer,
    decision: body.decision,
    proposal_hash: body.proposalHash,
    requires_response_by: body.requiresResponseBy,
    accepter_sig: signature,
  }
}

/** Checks that the accepter signed it. @throws {CtError} `ERR_SIGNATURE_INVALID` */
export function openAcceptance(sealed: Sealed<Acceptance>, options: Omit<OpenOptions, 'signer'>): Verified<Acceptance> {
  return open(ACCEPTANCE, sealed, { ...options, signer: sealed.body.accepter })
}
