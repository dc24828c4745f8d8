/**
 * Who sends a request, by its Authorization header.
 *
 * @module
 */
import { type Context } from 'hono'
import { type Caller } from '../identity/caller.ts'
import { callerOf } from '../identity/credentials.ts'
import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'

const MAX_HEADER_CHARS = 512

/**
 * The caller; nobody where no credential was sent.
 *
 * @throws {Refusal} `unauthorized` where one was sent that is not valid
 */
export async function callerFrom(relay: RelayContext, context: Context): Promise<Caller | undefined> {
  const header = context.req.header('authorization')
  if (header === undefined) return undefined
  const [scheme, token] = header.length > MAX_HEADER_CHARS ? [] : header.split(' ')
  if (scheme?.toLowerCase() !== 'bearer' || token === undefined) {
    throw new Refusal('unauthorized', 'expected Authorization: Bearer and a credential')
  }
  return callerOf(relay, token)
}

/**
 * What tells a client where to sign in.
 *
 * @param metadata URL of the metadata of what was asked for
 * @see https://www.rfc-editor.org/rfc/rfc9728#section-5.1
 */
export function challenge(metadata: string, wasSent: boolean): string {
  return `Bearer ${wasSent ? 'error="invalid_token", ' : ''}resource_metadata="${metadata}", scope="relay.full"`
}
