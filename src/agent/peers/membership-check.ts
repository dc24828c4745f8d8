/**
 * Whether what a serving side sends is the membership that was asked for.
 *
 * @module
 */
import { allows, openGrant, openStaple, signedByOneOf } from '../../channel/membership/index.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId, shortId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { type MembershipDocument } from '../members/membership-document.ts'

/** Whose membership it has to be, where. */
export interface ExpectedMembership {
  readonly operator: HolderId
  /** The keys that stand for the operator now, the newest first; its own alone without it. */
  readonly operators?: readonly HolderId[]
  readonly channel: ChannelId
  readonly holder: HolderId
  readonly now: UnixSeconds
}

/**
 * The time of the staple is for those to judge whom it is shown: a membership is not lost over two clocks.
 *
 * @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_GRANT_INVALID`, `ERR_GRANT_EXPIRED`
 */
export function checkMembership({ grant, staple }: MembershipDocument, expected: ExpectedMembership): void {
  const { operator, operators = [operator], now } = expected
  refuseOther('grant', grant.body, expected)
  refuseOther('staple', staple.body, expected)
  if (!allows(grant.body.direction, 'initiate')) {
    throw unfit(`expected a grant to initiate, found one to ${grant.body.direction}`)
  }
  try {
    signedByOneOf(operators, (signer) => {
      openGrant(grant, { operator: signer, now })
      openStaple(staple, { operator: signer, now: staple.body.stapledAt })
    })
  } catch (error) {
    if (!isCtError(error, 'ERR_ARTEFACT_EXPIRED')) throw error
    throw new CtError('ERR_GRANT_EXPIRED', `the new grant is no longer good: ${error.message}`, { cause: error })
  }
}

interface About {
  readonly channel: ChannelId
  readonly holder: HolderId
}

function refuseOther(what: string, found: About, { channel, holder }: ExpectedMembership): void {
  if (found.channel !== channel) throw unfit(`expected a ${what} for the channel of the invitation, found another`)
  if (found.holder === holder) return
  throw unfit(`expected a ${what} of ${shortId(holder)}…, found one of ${shortId(found.holder)}…`)
}

function unfit(message: string): CtError {
  return new CtError('ERR_GRANT_INVALID', `the peer answered with another membership: ${message}`)
}
