/**
 * Letting in a program that has no browser: it shows a code, a person types it in elsewhere.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8628
 * @module
 */
import { randomInt } from 'node:crypto'
import { type JsonObject } from '../../core/json.ts'
import { hashSecret, makeSecret, secretKind } from '../identity/secrets.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type DeviceRow } from '../storage/authorization-rows.ts'
import { type Sql } from '../storage/open.ts'
import { findClient } from './clients.ts'
import { insertConnection, insertTokens } from './connections.ts'
import { OAuthError } from './oauth-error.ts'
import { type Form } from './token-grants.ts'

const DEVICE_SECS = 600
const INTERVAL_SECS = 5
/** Without letters and digits that look like others. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789'
const HALF_CHARS = 4
const MAX_HINT_CHARS = 200
/** Devices that wait at once. */
const MAX_WAITING = 10_000
const HINTS = [
  'agent_slug_hint',
  'agent_display_name_hint',
  'agent_description_hint',
  'agent_visibility_hint',
  'persona',
]

/** @throws {OAuthError} */
export async function beginDevice(relay: RelayContext, given: Readonly<Record<string, unknown>>): Promise<JsonObject> {
  const clientId = given['client_id']
  const { sql } = relay.database
  if (clientId !== undefined && (typeof clientId !== 'string' || (await findClient(sql, clientId)) === undefined)) {
    throw new OAuthError('invalid_client', 'client_id: expected one that is registered, or none', 401)
  }
  const hints: Record<string, string> = {}
  for (const name of HINTS) {
    const hint = given[name]
    if (hint === undefined || hint === null) continue
    if (typeof hint !== 'string' || hint.length > MAX_HINT_CHARS) {
      throw new OAuthError('invalid_request', `${name}: expected at most ${MAX_HINT_CHARS} characters`)
    }
    hints[name] = hint
  }
  const { plaintext, hash } = makeSecret('device')
  const now = relay.clock.now()
  const row: DeviceRow = {
    id: newId(relay),
    device_hash: hash,
    user_code: newUserCode(),
    client_id: clientId ?? null,
    hints: JSON.stringify(hints),
    status: 'pending',
    user_id: null,
    agent_id: null,
    agent_scope: 'all',
    selected: '[]',
    interval_secs: INTERVAL_SECS,
    last_polled_at: null,
    created_at: now,
    expires_at: now + DEVICE_SECS * 1_000,
  }
  await relay.database.transaction(async (inside) => {
    await inside
      .deleteFrom('devices')
      .where('expires_at', '<=', now - DEVICE_SECS * 1_000)
      .execute()
    const { count } = await inside
      .selectFrom('devices')
      .select((of) => of.fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    if (Number(count) >= MAX_WAITING) {
      throw new OAuthError('temporarily_unavailable', 'too many devices wait', 429, DEVICE_SECS)
    }
    await inside.insertInto('devices').values(row).execute()
  })
  const pair = `${relay.settings.publicUrl}/app/pair`
  const complete = `${pair}?session=${row.user_code}`
  return {
    device_code: plaintext,
    user_code: row.user_code,
    verification_uri: pair,
    verification_uri_complete: complete,
    verification_uri_qr: `${relay.settings.publicUrl}/qr?data=${encodeURIComponent(complete)}`,
    expires_in: DEVICE_SECS,
    interval: INTERVAL_SECS,
  }
}

function newUserCode(): string {
  const half = (): string => Array.from({ length: HALF_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  return `${half()}-${half()}`
}

/** As a person may have typed it. */
export function readUserCode(text: string): string {
  const plain = text.toUpperCase().replace(/[^A-Z0-9]/g, '')
  return `${plain.slice(0, HALF_CHARS)}-${plain.slice(HALF_CHARS, 2 * HALF_CHARS)}`
}

export async function findDevice(sql: Sql, userCode: string, now: number): Promise<DeviceRow | undefined> {
  return sql
    .selectFrom('devices')
    .selectAll()
    .where('user_code', '=', readUserCode(userCode))
    .where('expires_at', '>', now)
    .executeTakeFirst()
}

type Outcome = { readonly text: string } | { readonly error: OAuthError }

/** @throws {OAuthError} `authorization_pending`, `slow_down`, `access_denied`, `expired_token`, `invalid_grant` */
export async function tokensByDevice(relay: RelayContext, form: Form): Promise<string> {
  const code = form('device_code')
  if (code === undefined) throw new OAuthError('invalid_request', 'device_code: expected one, found none')
  if (secretKind(code) !== 'device') throw new OAuthError('invalid_grant', 'expected a device code of this relay')
  const outcome = await relay.database.transaction((sql) => pollDevice(relay, sql, code, form('client_id')))
  if ('error' in outcome) throw outcome.error
  return outcome.text
}

async function pollDevice(relay: RelayContext, sql: Sql, code: string, clientId: string | undefined): Promise<Outcome> {
  const now = relay.clock.now()
  const row = await sql.selectFrom('devices').selectAll().where('device_hash', '=', hashSecret(code)).executeTakeFirst()
  if (row === undefined || (row.client_id !== null && row.client_id !== clientId) || row.status === 'consumed') {
    return { error: new OAuthError('invalid_grant', 'expected a device code that is good and of this client') }
  }
  if (row.expires_at <= now) return { error: new OAuthError('expired_token', 'nobody allowed it in time') }
  if (row.status === 'denied') return { error: new OAuthError('access_denied', 'the person said no') }
  const change = (values: Partial<DeviceRow>) =>
    sql.updateTable('devices').set(values).where('id', '=', row.id).execute()
  if (row.status === 'pending' || row.user_id === null) {
    const isEarly = row.last_polled_at !== null && now - row.last_polled_at < row.interval_secs * 1_000
    const interval = isEarly ? row.interval_secs + INTERVAL_SECS : row.interval_secs
    await change({ last_polled_at: now, interval_secs: interval })
    return {
      error: isEarly
        ? new OAuthError('slow_down', `ask again in ${interval} s`)
        : new OAuthError('authorization_pending', 'nobody has decided yet'),
    }
  }
  const connectionId = await insertConnection(relay, sql, {
    kind: 'device',
    clientId: row.client_id,
    userId: row.user_id,
    resource: null,
    agentScope: row.agent_scope,
    selected: JSON.parse(row.selected) as string[],
  })
  await change({ status: 'consumed' })
  const tokens = await insertTokens(relay, sql, connectionId)
  const agent =
    row.agent_id === null
      ? undefined
      : await sql
          .selectFrom('agents')
          .innerJoin('accounts', 'accounts.id', 'agents.account_id')
          .select(['agents.id as agent_id', 'agents.slug as agent_slug', 'accounts.slug as account_slug'])
          .where('agents.id', '=', row.agent_id)
          .executeTakeFirst()
  return { text: JSON.stringify({ ...tokens, ...agent }) }
}

export interface DeviceDecision {
  readonly isYes: boolean
  readonly userId: string
  readonly agentId: string | null
  readonly agentScope: DeviceRow['agent_scope']
  readonly selected: readonly string[]
}

/** False where there is nothing to decide any more. */
export async function decideDevice(sql: Sql, device: DeviceRow, decision: DeviceDecision): Promise<boolean> {
  const { isYes, userId, agentId, agentScope, selected } = decision
  // Without a client there is nobody else whose own they could be.
  const isOwn = agentScope === 'own' && device.client_id === null
  const agents = isOwn && agentId !== null ? [agentId] : [...selected, ...(agentId === null ? [] : [agentId])]
  const changed = await sql
    .updateTable('devices')
    .set({
      status: isYes ? 'approved' : 'denied',
      user_id: userId,
      agent_id: agentId,
      agent_scope: isOwn ? 'selected' : agentScope,
      selected: JSON.stringify([...new Set(agents)]),
    })
    .where('id', '=', device.id)
    .where('status', '=', 'pending')
    .returning('id')
    .execute()
  return changed.length > 0
}
