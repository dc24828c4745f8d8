/**
 * What storage needs of the world around it.
 *
 * @module
 */
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'

export interface WithClock {
  readonly clock: Clock
  readonly log: Log
}
