/**
 * People who sign in with an address and a password.
 *
 * Holds: an answer says neither in words nor in time whether somebody has the address. After some failures in a row an
 * address has to wait, whether anybody has it or not.
 *
 * @module
 */
import { createHash } from 'node:crypto'
import { audit } from '../audit.ts'
import { Refusal } from '../refusal.ts'
import { newId, type RelayContext } from '../relay-context.ts'
import { type UserRow } from '../storage/identity-rows.ts'
import { createUser, keptAddress, type NewUser } from './accounts.ts'
import { hashPassword, verifyPassword } from './passwords.ts'
import { makeSecret } from './secrets.ts'

export const SESSION_SECS = 12 * 3_600
const MAX_FAILURES = 10
const FAILURES_MS = 15 * 60_000

/** Of a password that nobody has, so that it takes as long to be held against. */
let nobodys: Promise<string> | undefined

/** @returns the secret of a new session @throws {Refusal} `unauthorized`, `signin_rate_limited` */
export async function signIn(relay: RelayContext, email: string, password: string): Promise<string> {
  const address = keptAddress(email)
  await countAttempt(relay, address)
  const user = await relay.database.sql.selectFrom('users').selectAll().where('email', '=', address).executeTakeFirst()
  nobodys ??= hashPassword('nobody has this password')
  const isRight = await verifyPassword(password, user?.password_hash ?? (await nobodys))
  if (user === undefined || user.password_hash === null || !isRight) {
    throw new Refusal('unauthorized', 'expected an address and its password, found no such pair')
  }
  return openSession(relay, user)
}

/** @throws {Refusal} `signup_disabled`, `conflict`, `invalid_request` */
export async function signUp(relay: RelayContext, user: Omit<NewUser, 'isAdmin'>): Promise<string> {
  if (!relay.settings.signupEnabled) {
    throw new Refusal('signup_disabled', 'this relay takes no new people by itself: ask its operator')
  }
  const { userId } = await createUser(relay, { ...user, isAdmin: false })
  const { sql } = relay.database
  return openSession(
    relay,
    await sql.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirstOrThrow(),
  )
}

async function openSession(relay: RelayContext, user: UserRow): Promise<string> {
  const { plaintext, hash } = makeSecret('session')
  const [id, now] = [newId(relay), relay.clock.now()]
  await relay.database.transaction(async (sql) => {
    await sql.deleteFrom('sign_in_failures').where('email_hash', '=', hashAddress(user.email)).execute()
    await sql.deleteFrom('sessions').where('user_id', '=', user.id).where('expires_at', '<=', now).execute()
    await sql
      .insertInto('sessions')
      .values({
        id,
        user_id: user.id,
        token_hash: hash,
        created_at: now,
        expires_at: now + SESSION_SECS * 1_000,
        revoked_at: null,
      })
      .execute()
    await audit(relay, sql, undefined, {
      action: 'session.open',
      resourceId: id,
      targetId: user.id,
      summary: 'a person signed in',
    })
  })
  return plaintext
}

export async function signOutOf({ database, clock }: RelayContext, sessionId: string): Promise<void> {
  await database.sql
    .updateTable('sessions')
    .set({ revoked_at: clock.now() })
    .where('id', '=', sessionId)
    .where('revoked_at', 'is', null)
    .execute()
}

/**
 * Before the password is looked at: of many attempts at once no more are made than of as many one after another.
 *
 * @throws {Refusal} `signin_rate_limited`
 */
async function countAttempt({ database, clock }: RelayContext, address: string): Promise<void> {
  const [emailHash, now] = [hashAddress(address), clock.now()]
  await database.transaction(async (sql) => {
    await sql
      .deleteFrom('sign_in_failures')
      .where('began_at', '<=', now - FAILURES_MS)
      .execute()
    const last = await sql
      .selectFrom('sign_in_failures')
      .selectAll()
      .where('email_hash', '=', emailHash)
      .executeTakeFirst()
    if (last === undefined) {
      await sql.insertInto('sign_in_failures').values({ email_hash: emailHash, failures: 1, began_at: now }).execute()
      return
    }
    if (last.failures >= MAX_FAILURES) throw tooMany(last.began_at + FAILURES_MS - now)
    await sql
      .updateTable('sign_in_failures')
      .set({ failures: last.failures + 1 })
      .where('email_hash', '=', emailHash)
      .execute()
  })
}

function tooMany(leftMs: number): Refusal {
  const secs = Math.ceil(leftMs / 1_000)
  return new Refusal('signin_rate_limited', `too many failed sign-ins; try again in ${secs} s`, {
    detail: { retry_after_secs: secs },
    headers: { 'retry-after': String(secs) },
  })
}

function hashAddress(address: string): string {
  return createHash('sha256').update(`sign-in ${address}`).digest('hex')
}
