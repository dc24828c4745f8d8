/**
 * Tells people who call by ticket why nothing happens: that the serving side is not there, or what the broker says.
 *
 * Holds: a call that finds its peer at once says nothing of how.
 *
 * @module
 */
import { type BrokerOptions } from '../../channel/index.ts'
import { type Clock } from '../../core/time.ts'
import { BrokerNotices } from '../direct/broker-notices.ts'
import { type Io } from '../io.ts'

/** Longer than a peer that is there takes to be named. */
const PATIENCE_MS = 3_000

export function tellOfWait(io: Io, clock: Clock, label: string): BrokerOptions['onState'] {
  const notices = new BrokerNotices(io, 'initiate', label)
  let cancel: (() => void) | undefined
  return (state) => {
    if (state.kind === 'joined') cancel ??= clock.after(PATIENCE_MS, () => notices.tell(state))
    else if (state.kind === 'hint' || state.kind === 'expired') notices.tell(state)
    else if (state.kind === 'way') {
      cancel?.()
      cancel = undefined
    }
  }
}
