/**
 * What every part of the relay works with.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { type Log } from '../core/log.ts'
import { type Clock } from '../core/time.ts'
import { uuidOf } from '../core/uuid.ts'
import { type RelaySettings } from './settings.ts'
import { type Database } from './storage/open.ts'

export interface RelayContext {
  readonly database: Database
  readonly settings: RelaySettings
  readonly clock: Clock
  readonly log: Log
}

const UUID_RANDOM_BYTES = 10

/** An id for a new row. */
export function newId({ clock }: Pick<RelayContext, 'clock'>): string {
  return uuidOf(clock.now(), randomBytes(UUID_RANDOM_BYTES))
}
