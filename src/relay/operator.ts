/**
 * What the operator of a relay does with its database, while it runs or not.
 *
 * @module
 */
import { type Log } from '../core/log.ts'
import { type Clock } from '../core/time.ts'
import { isoTime } from './fields.ts'
import { createUser, keptAddress, type NewUser } from './identity/accounts.ts'
import { insertApiKey } from './identity/api-keys.ts'
import { hashPassword } from './identity/passwords.ts'
import { notFound } from './refusal.ts'
import { idsBy, type RelayContext } from './relay-context.ts'
import { DEFAULT_SETTINGS } from './settings.ts'
import { type DatabaseLocation } from './storage/location.ts'
import { openDatabase } from './storage/open.ts'

export interface Person {
  readonly id: string
  readonly email: string
  readonly display_name: string
  readonly is_admin: boolean
  readonly created_at: string
}

export interface NewPerson extends NewUser {
  /** A first key for programs, of this name. */
  readonly keyName?: string | undefined
}

export interface MadePerson {
  readonly id: string
  readonly email: string
  readonly account_id: string
  readonly account_slug: string
  readonly api_key?: string
}

export interface Operator {
  readonly createPerson: (person: NewPerson) => Promise<MadePerson>
  readonly people: () => Promise<readonly Person[]>
  readonly setPassword: (email: string, password: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** @throws {CtError} `ERR_STATE_UNAVAILABLE` */
export async function openOperator(location: DatabaseLocation, clock: Clock, log: Log): Promise<Operator> {
  const database = await openDatabase(location, { clock, log })
  return {
    ...operatorOf({ database, clock, log, ids: idsBy(clock), settings: { ...DEFAULT_SETTINGS, publicUrl: '' } }),
    close: () => database.close(),
  }
}

export function operatorOf(relay: RelayContext): Omit<Operator, 'close'> {
  const { database, clock } = relay
  return {
    createPerson: async ({ keyName, ...user }) => {
      const { email, userId, accountId, accountSlug } = await createUser(relay, user)
      const made = { id: userId, email, account_id: accountId, account_slug: accountSlug }
      if (keyName === undefined) return made
      const key = { userId, accountId: null, name: keyName, agentScope: 'all', selected: [] } as const
      const { plaintext } = await database.transaction((sql) => insertApiKey(relay, sql, key))
      return { ...made, api_key: plaintext }
    },
    people: async () => {
      const users = await database.sql.selectFrom('users').selectAll().orderBy('created_at').execute()
      return users.map(({ id, email, display_name, is_admin, created_at }) => ({
        id,
        email,
        display_name,
        is_admin: is_admin === 1,
        created_at: isoTime(created_at),
      }))
    },
    setPassword: async (email, password) => {
      const hash = await hashPassword(password)
      await database.transaction(async (sql) => {
        const now = clock.now()
        const user = await sql
          .updateTable('users')
          .set({ password_hash: hash, updated_at: now })
          .where('email', '=', keptAddress(email))
          .returning('id')
          .executeTakeFirst()
        if (user === undefined) throw notFound('a person of this address')
        // Whoever signed in with the old one is out.
        await sql
          .updateTable('sessions')
          .set({ revoked_at: now })
          .where('user_id', '=', user.id)
          .where('revoked_at', 'is', null)
          .execute()
      })
    },
  }
}
