/**
 * What a process of waiting members is told.
 *
 * @module
 */
import { type BrokerPlace } from '../src/channel/index.ts'

export interface ParkOrder {
  readonly broker: BrokerPlace
  readonly channel: string
  readonly members: number
  readonly perSecond: number
}
