/**
 * The roster as a file in the state folder: `ct-agent serve`, `invite` and `member` are processes of their own.
 *
 * @module
 */
import { openDatabase } from '../../core/database.ts'
import { type Roster } from './roster.ts'
import { SCHEMA, SqlPage } from './roster-page.ts'

/** Another process writes for milliseconds; while it does, a serving agent answers nobody. */
const PATIENCE_MS = 250

const LAYOUT = { name: 'the list of members', version: 1, schema: SCHEMA } as const

export function rosterPath(stateDir: string): string {
  return `${stateDir}/members.db`
}

/** @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export async function openRoster(stateDir: string): Promise<Roster> {
  const database = await openDatabase(rosterPath(stateDir), LAYOUT, PATIENCE_MS)
  const page = new SqlPage(database)
  return {
    read: (work) => database.read(() => work(page)),
    update: (work) => database.update(() => work(page)),
    changedElsewhere: () => database.changedElsewhere(),
    close: () => database.close(),
  }
}
