/**
 * The keys of a channel's operator: the one by which the channel is known, and those that took over from it.
 *
 * @module
 */
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { KnownSuccessions } from './known-successions.ts'
import { type SignedSuccession } from './succession.ts'

export interface OperatorLine {
  /** Whose signatures count now, the newest first. */
  readonly standing: readonly HolderId[]
  /** Whose signatures counted before. */
  readonly retired: readonly HolderId[]
  /** From the key that is known to the newest. */
  readonly successions: readonly SignedSuccession[]
}

/** @param shown in the order of trust: what comes first cannot be pushed aside by what comes later */
export function operatorLine(
  { operator, channel, now }: { readonly operator: HolderId; readonly channel: ChannelId; readonly now: UnixSeconds },
  ...shown: readonly (readonly SignedSuccession[])[]
): OperatorLine {
  const known = new KnownSuccessions(channel)
  for (const some of shown) known.learn(operator, 'operator', some, now)
  return {
    standing: known.standFor(operator, 'operator', now),
    retired: known.retired(operator, 'operator', now),
    successions: known.from(operator, 'operator'),
  }
}
