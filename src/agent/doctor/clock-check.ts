/**
 * The clock: beside that of the broker's front door, and beside what was written here earlier.
 *
 * @module
 */
import { request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { type BrokerPlace, formatBroker } from '../../channel/index.ts'
import { type Clock } from '../../core/time.ts'
import { type Finding, found } from './catalogue.ts'

/** Signed documents allow as much between two machines. */
const TOLERANCE_MS = 60_000
/** Files that come from elsewhere may be a little ahead. */
const MAX_AHEAD_MS = 600_000

export interface ClockSources {
  /** Ways to a broker; those by WebSocket tell the time. */
  readonly places: readonly BrokerPlace[]
  /** When something was last written here, in Unix milliseconds. */
  readonly newestChange: number
}

export async function checkClock(
  clock: Clock,
  { places, newestChange }: ClockSources,
  signal: AbortSignal,
): Promise<Finding> {
  if (newestChange > clock.now() + MAX_AHEAD_MS) {
    const written = new Date(newestChange).toISOString()
    return found('clock.behind', `it is ${shown(clock.now())} here, and files of this agent were written at ${written}`)
  }
  const telling = places.filter(({ transport }) => transport !== 'tcp')
  for (const place of telling) {
    const began = clock.now()
    const theirs = await dateAt(place, signal)
    if (theirs === undefined) continue
    // A date has whole seconds, and it was told somewhere between the question and the answer.
    const ours = (began + clock.now()) / 2
    const offMs = ours - (theirs + 500)
    const where = formatBroker(place)
    if (Math.abs(offMs) <= TOLERANCE_MS) return found('clock.ok', `the same as at ${where}`)
    const seconds = Math.round(Math.abs(offMs) / 1_000)
    return found(
      'clock.off',
      `${seconds} s ${offMs > 0 ? 'ahead of' : 'behind'} ${where}: it is ${shown(clock.now())} here`,
    )
  }
  const why = telling.length === 0 ? 'no front door is known, and nobody else tells the time' : 'nobody told the time'
  return found('clock.skipped', `not compared: ${why}; it is ${shown(clock.now())} here`)
}

function shown(ms: number): string {
  return new Date(ms).toISOString()
}

/** What the HTTP server there says; its answer does not matter otherwise, nor who it is. */
function dateAt({ host, port, transport }: BrokerPlace, signal: AbortSignal): Promise<number | undefined> {
  return new Promise((resolve) => {
    const options = { host, port, method: 'HEAD', path: '/', signal, agent: false }
    const request = transport === 'wss' ? tlsRequest({ ...options, rejectUnauthorized: false }) : plainRequest(options)
    request.once('response', (response) => {
      response.destroy()
      const date = Date.parse(response.headers.date ?? '')
      resolve(Number.isNaN(date) ? undefined : date)
    })
    request.once('error', () => resolve(undefined))
    request.end()
  })
}
