/**
 * How long the grant of a member holds, and when it is time for the next.
 *
 * @module
 */
import { saturatingAdd, type U64, type UnixSeconds } from '../../core/u64.ts'
import { type MemberRecord } from './roster.ts'

type GrantTimes = Pick<MemberRecord, 'grantedAt' | 'grantEnds'>

/** A grant from now on. */
export function grantFrom(now: UnixSeconds, seconds: U64): GrantTimes {
  return { grantedAt: now, grantEnds: saturatingAdd(now, seconds) }
}

/** True when half of its time is over, or the clock stands before its beginning: then nobody knows how old it is. */
export function isDue({ grantedAt, grantEnds }: GrantTimes, now: UnixSeconds): boolean {
  return now < grantedAt || now >= grantEnds - (grantEnds - grantedAt) / 2n
}
