/**
 * How this side stands with its broker and its relay, and since when.
 *
 * @module
 */
import { type BrokerState, formatAddress, type RelayState } from '../../channel/index.ts'
import { type CtError } from '../../core/errors.ts'

export interface Standing {
  readonly state: 'waiting' | 'joined' | 'reserved' | 'refused' | 'trouble'
  /** Unix time in milliseconds. */
  readonly since: number
  readonly code?: string
  readonly reason?: string
}

export class BrokerWatch {
  broker: Standing
  relay: Standing
  /** Where the broker sees this side. */
  observed: string | undefined

  constructor(now: number) {
    this.broker = { state: 'waiting', since: now }
    this.relay = { state: 'waiting', since: now }
  }

  tell(told: BrokerState | RelayState, now: number): void {
    switch (told.kind) {
      case 'joined':
        this.observed = formatAddress(told.observed)
        this.broker = changed(this.broker, 'joined', now)
        return
      case 'trouble':
        this.broker = changed(this.broker, 'trouble', now, told.reason)
        this.relay = changed(this.relay, 'waiting', now)
        return
      case 'reserved':
        this.relay = changed(this.relay, 'reserved', now)
        return
      case 'not-reserved':
        this.relay = changed(this.relay, 'trouble', now, told.reason)
        return
      default:
    }
  }

  /** The broker refused this side for good. */
  refused(reason: CtError, now: number): void {
    this.broker = changed(this.broker, 'refused', now, reason)
  }
}

function changed(before: Standing, state: Standing['state'], now: number, reason?: CtError): Standing {
  const since = before.state === state ? before.since : now
  return reason === undefined ? { state, since } : { state, since, code: reason.code, reason: reason.message }
}
