/**
 * Who may open a session. Pure: keys that the handshake proved and a hello go in, a verdict comes out.
 *
 * Holds: with no rule at all nobody is admitted.
 *
 * @module
 */
import { equalBytes } from '../core/bytes.ts'
import { CtError } from '../core/errors.ts'
import { type HolderId, type NoiseKeyId, shortId } from '../core/ids.ts'
import { type SecretKey } from '../core/keys.ts'
import { type Hello } from './hello.ts'
import { ticketProof } from './ticket.ts'

/** Every kind of pin that is given must be met; a ticket admits whoever proves its secret and meets the pins. */
export interface TrustPolicy {
  readonly holders?: ReadonlySet<HolderId>
  readonly noiseKeys?: ReadonlySet<NoiseKeyId>
  /** Secret of the ticket this side gave out. */
  readonly ticketSecret?: SecretKey
}

export interface ProvenKeys {
  readonly holder: HolderId
  readonly noiseKeys: ReadonlySet<NoiseKeyId>
}

/** Why these keys are not the pinned ones; `undefined` when they are. */
export function checkPins({ holders, noiseKeys }: TrustPolicy, proven: ProvenKeys): CtError | undefined {
  if (holders !== undefined && !holders.has(proven.holder)) {
    return new CtError('ERR_PEER_REFUSED', `the holder key ${shortId(proven.holder)}… is not among the trusted ones`)
  }
  if (noiseKeys !== undefined && ![...proven.noiseKeys].some((key) => noiseKeys.has(key))) {
    return new CtError('ERR_PEER_REFUSED', 'the Noise key used in the handshake is not among the trusted ones')
  }
  return undefined
}

/** Why this peer is not admitted; `undefined` when it is. */
export function checkAdmission(
  policy: TrustPolicy,
  proven: ProvenKeys,
  server: HolderId,
  hello: Hello,
): CtError | undefined {
  const { holders, noiseKeys, ticketSecret } = policy
  if (holders === undefined && noiseKeys === undefined && ticketSecret === undefined) {
    return new CtError('ERR_PEER_REFUSED', 'this side trusts nobody')
  }
  const unpinned = checkPins(policy, proven)
  if (unpinned !== undefined || ticketSecret === undefined) return unpinned
  const proof = hello.proof ?? NO_PROOF
  return equalBytes(proof, ticketProof(ticketSecret, proven.holder, server))
    ? undefined
    : new CtError(
        'ERR_PEER_REFUSED',
        hello.proof === undefined
          ? 'a ticket is needed and none was shown'
          : 'the ticket is not, or no longer, the one this side gave out',
      )
}

const NO_PROOF = new Uint8Array(0)
