/**
 * How long the grant of a member holds, and when it is time for the next.
 *
 * @module
 */
import { saturatingAdd, type U64, type UnixSeconds } from '../../core/u64.ts'
import { type MemberRecord } from './roster.ts'

type GrantTimes = Pick<MemberRecord, 'grantedAt' | 'grantEnds'>

/**
 * A grant from now on.
 *
 * @param before the last one: whoever has it can show it until it ends, so an earlier end would only hide how long a
 * removal has to be remembered
 */
export function grantFrom(now: UnixSeconds, seconds: U64, before?: GrantTimes): GrantTimes {
  const end = saturatingAdd(now, seconds)
  return { grantedAt: now, grantEnds: before !== undefined && before.grantEnds > end ? before.grantEnds : end }
}

/** True when half of its time is over, or the clock stands before its beginning: then nobody knows how old it is. */
export function isDue({ grantedAt, grantEnds }: GrantTimes, now: UnixSeconds): boolean {
  return now < grantedAt || now >= grantEnds - (grantEnds - grantedAt) / 2n
}
