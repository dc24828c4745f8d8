/**
 * Revocation lists for tests of the broker.
 *
 * @module
 */
import { type RevocationList, sealRevocations } from '../../../src/channel/membership/revocations.ts'
import { type Verified } from '../../../src/core/artefact.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'
import { type HolderKey } from '../../../src/core/keys.ts'
import { u64 } from '../../../src/core/u64.ts'
import { CHANNEL, OPERATOR } from './raw-member.ts'

export interface ListOptions {
  readonly channel?: ChannelId
  readonly operator?: HolderKey
}

export function listOf(
  sequence: number,
  removed: readonly HolderId[],
  { channel = CHANNEL, operator = OPERATOR }: ListOptions = {},
): Verified<RevocationList> {
  return sealRevocations({ channel, sequence: u64(sequence), issuedAt: u64(0), removed }, operator.secret)
}
