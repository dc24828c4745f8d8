/**
 * Whether anything listens somewhere.
 *
 * @module
 */
import { connect } from 'node:net'
import { type Address } from '../../channel/index.ts'

export type Knock = 'open' | 'closed' | 'silent' | 'unreachable'

/** Far longer than any network takes, short enough to leave time for what comes after. */
const KNOCK_MS = 4_000

/** Whatever listens and speaks something else is found out sooner; what takes longer does not speak at all. */
export const QUICK_MS = 1_500

export function knock({ host, port }: Address, signal: AbortSignal): Promise<Knock> {
  return new Promise((resolve) => {
    const socket = connect({ host, port })
    const settle = (outcome: Knock): void => {
      socket.destroy()
      resolve(outcome)
    }
    socket.setTimeout(KNOCK_MS, () => settle('silent'))
    signal.addEventListener('abort', () => settle('silent'), { once: true })
    socket.once('connect', () => settle('open'))
    socket.on('error', (error) => {
      const code = 'code' in error ? error.code : undefined
      settle(code === 'ECONNREFUSED' ? 'closed' : code === 'ETIMEDOUT' ? 'silent' : 'unreachable')
    })
  })
}
