/**
 * What every part of the relay works with.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { type Log } from '../core/log.ts'
import { type Clock } from '../core/time.ts'
import { uuidSource } from '../core/uuid.ts'
import { type RelaySettings } from './settings.ts'
import { type Database } from './storage/open.ts'

export interface RelayContext {
  readonly database: Database
  readonly settings: RelaySettings
  readonly clock: Clock
  readonly log: Log
  /** For new rows: each sorts after the one before. */
  readonly ids: () => string
}

export function idsBy({ now }: Clock): () => string {
  return uuidSource(now, (bytes) => new Uint8Array(randomBytes(bytes)))
}

/** An id for a new row. */
export function newId({ ids }: Pick<RelayContext, 'ids'>): string {
  return ids()
}
