/**
 * What the members of a serving agent are called.
 *
 * @module
 */
import { type HolderId } from '../../core/ids.ts'
import { type Roster } from '../members/roster.ts'

/** Nobody has a name where there is no roster, or while it cannot be read. */
export function nameIn(roster: Roster | undefined): (holder: HolderId) => string | undefined {
  return (holder) => {
    try {
      return roster?.read((page) => page.member(holder)?.name)
    } catch {
      return undefined
    }
  }
}
