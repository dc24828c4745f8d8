/**
 * Whether an agent that pulls its inbox has been around.
 *
 * @module
 */
import { z } from 'zod'
import { isoTime, time } from '../fields.ts'
import { type AgentRow } from '../storage/network-rows.ts'

const ONLINE_MS = 300_000
const FORGOTTEN_MS = 30 * 86_400_000

export const peerShape = z.object({
  delivery: z.literal('pull'),
  online: z.boolean(),
  last_seen_at: time.nullable(),
})

export type Peer = z.infer<typeof peerShape>

export function presenceOf({ last_polled_at: polled }: Pick<AgentRow, 'last_polled_at'>, now: number): Peer {
  const ago = polled === null ? Infinity : now - polled
  return {
    delivery: 'pull',
    online: ago <= ONLINE_MS,
    last_seen_at: polled === null || ago > FORGOTTEN_MS ? null : isoTime(polled),
  }
}

/** Said of an agent that may not pick it up soon. */
export function absenceNote({ online, last_seen_at: seen }: Peer): string | undefined {
  if (online) return undefined
  const when = seen === null ? 'it was not seen in the last 30 days' : `it was last seen at ${seen}`
  return `The agent may not pick this up soon: ${when}.`
}
