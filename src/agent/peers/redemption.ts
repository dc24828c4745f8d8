/**
 * Redeems an invitation for membership of this agent's own key.
 *
 * Holds: the invited key signs for this channel, this holder and one challenge, so what it signed is worth nothing
 * elsewhere or again. The private key of the member is never sent, nor is the secret of the invitation.
 *
 * @module
 */
import { operatorLine, REDEMPTION, type SignedSuccession } from '../../channel/membership/index.ts'
import { seal } from '../../core/artefact.ts'
import { fromHex, toHex } from '../../core/bytes.ts'
import { CtError } from '../../core/errors.ts'
import { type HolderId, KEY_BYTES } from '../../core/ids.ts'
import { holderKey, type SecretKey } from '../../core/keys.ts'
import { type Clock } from '../../core/time.ts'
import { unixSeconds } from '../../core/u64.ts'
import { isJsonObject, type JsonValue, resultOf } from '../../mcp/index.ts'
import { type Caller } from '../calling/caller.ts'
import {
  CHALLENGE_METHOD,
  type MembershipDocument,
  parseMembership,
  REDEEM_METHOD,
} from '../members/membership-document.ts'
import { checkMembership, type ExpectedMembership } from './membership-check.ts'

export interface RedemptionWish extends Omit<ExpectedMembership, 'now' | 'operators'> {
  /** Of the operator's key, as the ticket says. */
  readonly successions: readonly SignedSuccession[]
  /** Of the invited key. */
  readonly secret: SecretKey
  /** What the newcomer would like to be called. */
  readonly as: string | undefined
}

/**
 * All on one link: the challenge is good on no other.
 *
 * @throws {CtError} what the serving side refuses it with, `ERR_PROTOCOL`, and as `checkMembership`
 */
export async function redeem(
  caller: Pick<Caller, 'call'>,
  wish: RedemptionWish,
  clock: Clock,
): Promise<MembershipDocument> {
  const challenge = challengeIn(resultOf(await caller.call(CHALLENGE_METHOD, {})))
  const params = { challenge: toHex(challenge), signature: signatureFor(wish, challenge) }
  const { as } = wish
  const answer = await caller.call(REDEEM_METHOD, as === undefined ? params : { ...params, name: as })
  const document = parseMembership(resultOf(answer))
  const now = unixSeconds(clock)
  const { standing, successions } = operatorLine({ ...wish, now }, wish.successions, document.successions ?? [])
  checkMembership(document, { ...wish, operators: standing, now })
  return { ...document, successions }
}

function signatureFor({ secret, channel, holder }: RedemptionWish, challenge: Uint8Array): string {
  const invitee: HolderId = holderKey(secret).id
  return seal(REDEMPTION, { channel, invitee, holder, challenge }, secret).signature
}

function challengeIn(value: JsonValue): Uint8Array {
  const challenge = isJsonObject(value) ? value['challenge'] : undefined
  const bytes = typeof challenge === 'string' ? fromHex(challenge) : { problem: 'something else' }
  if (!('problem' in bytes) && bytes.length === KEY_BYTES) return bytes
  throw new CtError('ERR_PROTOCOL', `expected a challenge of ${KEY_BYTES} bytes, found something else`)
}
