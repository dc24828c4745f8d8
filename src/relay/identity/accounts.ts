/**
 * People and the accounts that own agents. Everybody has one account of their own.
 *
 * @module
 */
import { randomBytes } from 'node:crypto'
import { Refusal } from '../refusal.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type Sql } from '../storage/open.ts'
import { hashPassword } from './passwords.ts'

/** Words that paths of the relay begin with. */
const RESERVED: ReadonlySet<string> = new Set([
  'admin',
  'agents',
  'api',
  'app',
  'assets',
  'auth',
  'directory',
  'docs',
  'healthz',
  'login',
  'mcp',
  'metrics',
  'oauth',
  'readyz',
  'relay',
  'signup',
  'well-known',
])

const SLUG_SUFFIX_BYTES = 4
const MAX_SLUG_STEM = 22

export interface NewUser {
  readonly email: string
  readonly displayName: string
  readonly password?: string | undefined
  readonly isAdmin: boolean
  /** Of the personal account; made from the address unless given. */
  readonly slug?: string | undefined
}

export interface MadeUser {
  /** As it is kept. */
  readonly email: string
  readonly userId: string
  readonly accountId: string
  readonly accountSlug: string
}

/** @throws {Refusal} `conflict` where the address or the slug is taken; `invalid_request` */
export async function createUser(
  relay: RelayContext,
  { email, displayName, password, isAdmin, slug }: NewUser,
): Promise<MadeUser> {
  const address = keptAddress(email)
  const passwordHash = password === undefined ? null : await hashPassword(password)
  const [userId, accountId, now] = [newId(relay), newId(relay), relay.clock.now()]
  const accountSlug = slug ?? slugFrom(address)
  if (slug !== undefined) refuseReserved(slug)
  await relay.database.transaction(async (sql) => {
    const taken = await sql.selectFrom('users').select('id').where('email', '=', address).executeTakeFirst()
    if (taken !== undefined) throw new Refusal('conflict', 'expected an e-mail address that is new here')
    await refuseTakenSlug(sql, accountSlug)
    const times = { created_at: now, updated_at: now }
    await sql
      .insertInto('users')
      .values({
        id: userId,
        email: address,
        display_name: displayName,
        is_admin: isAdmin ? 1 : 0,
        password_hash: passwordHash,
        ...times,
      })
      .execute()
    await insertAccount(sql, {
      id: accountId,
      slug: accountSlug,
      displayName,
      type: 'individual',
      ownerId: userId,
      now,
    })
  })
  return { email: address, userId, accountId, accountSlug }
}

/** An e-mail address as it is kept and looked up. */
export function keptAddress(email: string): string {
  return email.trim().toLowerCase()
}

export interface NewAccount {
  readonly id: string
  readonly slug: string
  readonly displayName: string
  readonly type: 'individual' | 'organization'
  readonly ownerId: string
  readonly now: number
}

/** With its owner as its first member. */
export async function insertAccount(
  sql: Sql,
  { id, slug, displayName, type, ownerId, now }: NewAccount,
): Promise<void> {
  await sql
    .insertInto('accounts')
    .values({
      id,
      slug,
      display_name: displayName,
      account_type: type,
      owner_user_id: ownerId,
      default_agent_visibility: 'private',
      auto_friendship_enabled: 0,
      rate_limit_per_min: null,
      created_at: now,
      updated_at: now,
      tombstoned_at: null,
    })
    .execute()
  await sql
    .insertInto('memberships')
    .values({ account_id: id, user_id: ownerId, role: 'owner', invited_by: null, joined_at: now })
    .execute()
}

/** @throws {Refusal} `invalid_request` */
export function refuseReserved(slug: string): void {
  if (RESERVED.has(slug)) throw new Refusal('invalid_request', `slug: ${slug} is a word of the relay itself`)
}

/** @throws {Refusal} `conflict` */
export async function refuseTakenSlug(sql: Sql, slug: string): Promise<void> {
  const taken = await sql
    .selectFrom('accounts')
    .select('id')
    .where('slug', '=', slug)
    .where('tombstoned_at', 'is', null)
    .executeTakeFirst()
  if (taken !== undefined) throw new Refusal('conflict', `expected a slug that is free, found ${slug} taken`)
}

function slugFrom(email: string): string {
  const stem = (email.split('@')[0] ?? '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG_STEM)
    .replace(/^-+|-+$/g, '')
  return [...(stem === '' ? [] : [stem]), randomBytes(SLUG_SUFFIX_BYTES).toString('hex')].join('-')
}
