/**
 * Two friends of whom one uses what the other can do, at a clock of their own.
 *
 * @module
 */
import { type RelaySettings } from '../../src/relay/settings.ts'
import { befriended, type Person, signIn, startRelay } from './harness.ts'

const NOON = Date.UTC(2026, 10, 30, 12)
const DATE = { type: 'object', properties: { date: { type: 'string' } }, required: ['date'] }
export const OPEN = { public_invoke: true, public_monthly_quota_per_agent: 3 }
export const TODAY = { date: 'first of May' }

export async function started(
  capability: Readonly<Record<string, unknown>> = {},
  settings: Partial<RelaySettings> = {},
) {
  let now = NOON
  const { relay, person, url } = await startRelay({ settings, now: () => now })
  const parts = await befriended(person, { input_schema: DATE, ...capability })
  const { bob, eve, server, caller, grantId, capabilityId } = parts
  return {
    ...parts,
    relay,
    person,
    url,
    session: (who: Person) => signIn(relay, who),
    pass: (ms: number) => (now += ms),
    invoke: (more: Readonly<Record<string, unknown>> = {}) =>
      eve.post('/v1/invoke', { grant_id: grantId, grantee_agent_id: caller, input: TODAY, ...more }),
    pull: (more = '') => bob.get(`/v1/inbox?agent_id=${server}${more}`),
    respond: (id: string, more: Readonly<Record<string, unknown>> = {}) =>
      bob.post(`/v1/invocations/${id}/result`, { status: 'succeeded', output: { free: true }, ...more }),
    byName: (who: Person, more: Readonly<Record<string, unknown>> = {}) =>
      who.post('/v1/invoke', { agent: 'bob/venue-bot', capability: 'check_availability', input: TODAY, ...more }),
    capabilityPath: `/v1/agents/${server}/capabilities/${capabilityId}`,
  }
}
