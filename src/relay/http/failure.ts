/**
 * From whatever went wrong to an answer of HTTP.
 *
 * Holds: of an error that is no refusal nothing leaves the relay but that there was one.
 *
 * @module
 */
import { type Context } from 'hono'
import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { isUnavailable } from '../storage/open.ts'
import { isUnfitText } from '../storage/postgres.ts'

const UNAVAILABLE_RETRY_SECS = 5

export function asRefusal(relay: RelayContext, error: unknown): Refusal {
  if (error instanceof Refusal) return error
  if (isUnavailable(error)) {
    return new Refusal('unavailable', 'the database does not answer; try again soon', {
      detail: { retry_after_secs: UNAVAILABLE_RETRY_SECS },
      headers: { 'retry-after': String(UNAVAILABLE_RETRY_SECS) },
    })
  }
  if (isUnfitText(error)) return new Refusal('invalid_request', 'expected text without NUL, found one with it')
  relay.log.error('relay.failed', { reason: error instanceof Error ? error.message : String(error) })
  return new Refusal('internal_error', 'something went wrong here; it was logged')
}

export function answerRefusal(context: Context, refusal: Refusal): Response {
  for (const [name, value] of Object.entries(refusal.headers)) context.header(name, value)
  return context.json(refusal.body, refusal.facts.status)
}
