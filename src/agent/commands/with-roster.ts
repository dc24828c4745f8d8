/**
 * @module
 */
import { type UnixSeconds, unixSeconds } from '../../core/u64.ts'
import { type Context } from '../command.ts'
import { type Roster } from '../members/roster.ts'
import { openRoster } from '../members/roster-file.ts'

/** A command that does one piece of work on the roster: its status. */
export async function withRoster(
  { clock, stateDir }: Context,
  work: (roster: Roster, now: UnixSeconds) => Promise<void>,
): Promise<number> {
  const roster = await openRoster(stateDir)
  try {
    await work(roster, unixSeconds(clock))
    return 0
  } finally {
    roster.close()
  }
}
