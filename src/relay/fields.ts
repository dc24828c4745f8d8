/**
 * What inputs and outputs are made of: the same words, bounds and formats everywhere.
 *
 * @module
 */
import { z } from 'zod'
import { isUuid } from '../core/uuid.ts'

const MAX_NAME_CHARS = 200
const MAX_DESCRIPTION_CHARS = 4_000
const MAX_SLUG_CHARS = 32
const MIN_SLUG_CHARS = 3
const MAX_AGENT_NAME_CHARS = 80

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

export const id = z.string().refine(isUuid, 'expected a UUID').meta({ format: 'uuid' })

/** An id, or `account/agent`. */
export const agentName = z
  .string()
  .min(1)
  .max(MAX_AGENT_NAME_CHARS)
  .meta({ description: 'Id of the agent, or account/agent', examples: ['bob/venue-bot'] })

export const slug = z
  .string()
  .min(MIN_SLUG_CHARS)
  .max(MAX_SLUG_CHARS)
  .regex(SLUG, 'expected lower-case letters, digits and single hyphens between them')

export function isSlug(text: string): boolean {
  return slug.safeParse(text).success
}

export const displayName = z.string().trim().min(1).max(MAX_NAME_CHARS)
export const description = z.string().max(MAX_DESCRIPTION_CHARS)
export const visibility = z.enum(['private', 'org', 'network'])

/** A time in ISO 8601; inside, Unix milliseconds. */
export const time = z.iso.datetime({ offset: true })

/** A number that may come as text, in a query. */
export function whole(least: number, most: number): z.ZodType<number> {
  return z.coerce.number().int().min(least).max(most) as z.ZodType<number>
}

export function isoTime(unixMs: number): string {
  return new Date(unixMs).toISOString()
}

export function isoTimeOrNull(unixMs: number | null): string | null {
  return unixMs === null ? null : isoTime(unixMs)
}
