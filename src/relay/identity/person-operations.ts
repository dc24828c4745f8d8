/**
 * Signing in for programs of a person's own, and what a person has.
 *
 * @module
 */
import { z } from 'zod'
import { audit } from '../audit.ts'
import { displayName, id, isoTime, time } from '../fields.ts'
import { type Operation, openOperation, operation } from '../operation.ts'
import { notFound, Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type Sql } from '../storage/open.ts'
import { callerOf } from './credentials.ts'
import { endPairing, pairingsOf } from './pairings.ts'
import { signIn, signOutOf, signUp } from './sign-in.ts'

const MAX_EMAIL_CHARS = 254
const MAX_PASSWORD_CHARS = 200

const email = z
  .string()
  .max(MAX_EMAIL_CHARS)
  .regex(/^[^\s@]+@[^\s@]+$/, 'expected an e-mail address')
const password = z.string().max(MAX_PASSWORD_CHARS)

const membershipShape = z.object({
  id,
  slug: z.string(),
  display_name: z.string(),
  account_type: z.enum(['individual', 'organization']),
  role: z.enum(['owner', 'admin', 'member']),
})

const personShape = z.object({
  user: z.object({ id, email: z.string(), display_name: z.string(), is_admin: z.boolean(), created_at: time }),
  memberships: z.array(membershipShape),
  survey_required: z.literal(false),
})

const sessionShape = personShape.extend({ token: z.string() })

async function personOf(sql: Sql, userId: string): Promise<z.infer<typeof personShape>> {
  const user = await sql.selectFrom('users').selectAll().where('id', '=', userId).executeTakeFirstOrThrow()
  const memberships = await sql
    .selectFrom('memberships')
    .innerJoin('accounts', 'accounts.id', 'memberships.account_id')
    .select(['accounts.id', 'slug', 'display_name', 'account_type', 'role'])
    .where('user_id', '=', userId)
    .where('tombstoned_at', 'is', null)
    .orderBy('accounts.created_at')
    .execute()
  const { display_name: name, is_admin: isAdmin, created_at: created } = user
  return {
    user: { id: user.id, email: user.email, display_name: name, is_admin: isAdmin === 1, created_at: isoTime(created) },
    memberships,
    survey_required: false,
  }
}

async function sessionOf(relay: RelayContext, token: string): Promise<z.infer<typeof sessionShape>> {
  const { userId } = await callerOf(relay, token)
  return { ...(await personOf(relay.database.sql, userId)), token }
}

const login = openOperation({
  name: 'login',
  about: 'Sign in with an address and a password; the token is a session of the person, for twelve hours',
  isOpen: true,
  rest: { method: 'post', path: '/v1/auth/login' },
  input: z.object({ email, password }),
  output: sessionShape,
  run: async (relay, _, input) => sessionOf(relay, await signIn(relay, input.email, input.password)),
})

const signup = openOperation({
  name: 'signup',
  about: 'Make an account, where the relay takes whoever comes',
  isOpen: true,
  rest: { method: 'post', path: '/v1/auth/signup', status: 201 },
  input: z.object({ email, password, name: displayName }),
  output: sessionShape,
  run: async (relay, _, input) => {
    const user = { email: input.email, displayName: input.name, password: input.password }
    return sessionOf(relay, await signUp(relay, user))
  },
})

const signout = operation({
  name: 'signout',
  about: 'End the session that asks',
  rest: { method: 'post', path: '/v1/auth/signout', status: 204 },
  input: z.object({}),
  output: z.object({ signed_out: z.literal(true) }),
  run: async (relay, caller) => {
    if (caller.kind !== 'session') throw new Refusal('forbidden', 'expected a session: other credentials are revoked')
    await signOutOf(relay, caller.credentialId)
    return { signed_out: true as const }
  },
})

const me = operation({
  name: 'me',
  about: 'Who you are, and in which accounts',
  rest: { method: 'get', path: '/v1/me' },
  input: z.object({}),
  output: personShape,
  run: async ({ database }, caller) => {
    const person = await personOf(database.sql, caller.userId)
    return { ...person, memberships: person.memberships.filter((account) => caller.roles.has(account.id)) }
  },
})

const listMyAccounts = operation({
  name: 'list_my_accounts',
  about: 'The accounts that you can make agents in',
  tool: { title: 'List my accounts', readOnly: true },
  input: z.object({}),
  output: z.array(membershipShape),
  run: async ({ database }, caller) => {
    const { memberships } = await personOf(database.sql, caller.userId)
    return memberships.filter((account) => caller.roles.has(account.id))
  },
})

const pairingKind = z.enum(['oauth', 'device_flow', 'api_key'])

const listPairings = operation({
  name: 'list_pairings',
  about: 'The programs that you have let in',
  rest: { method: 'get', path: '/v1/pairings' },
  input: z.object({}),
  output: z.array(
    z.object({
      kind: pairingKind,
      id,
      name: z.string(),
      agent_scope: z.enum(['all', 'own', 'selected']),
      created_at: time,
      last_used_at: time.nullable(),
    }),
  ),
  run: async ({ database, clock }, caller) => {
    const pairings = await pairingsOf(database.sql, caller.userId, clock.now())
    return pairings.map(({ kind, id: pairingId, name, agentScope, createdAt, lastUsedAt }) => ({
      kind,
      id: pairingId,
      name,
      agent_scope: agentScope,
      created_at: isoTime(createdAt),
      last_used_at: lastUsedAt === null ? null : isoTime(lastUsedAt),
    }))
  },
})

const revokePairing = operation({
  name: 'revoke_pairing',
  about: 'Let a program in no more; its tokens end at once',
  rest: { method: 'post', path: '/v1/pairings/{kind}/{id}/revoke', status: 204 },
  input: z.object({ kind: pairingKind, id }),
  output: z.object({ revoked: z.literal(true) }),
  run: async (relay, caller, { kind, id: pairingId }) => {
    if (caller.accountId !== null) throw new Refusal('forbidden', 'expected a credential that is for all your accounts')
    await relay.database.transaction(async (sql) => {
      const which = { userId: caller.userId, kind, id: pairingId, now: relay.clock.now() }
      if (!(await endPairing(sql, which))) throw notFound('a program that you let in')
      await audit(relay, sql, caller, {
        action: 'pairing.revoke',
        resourceId: pairingId,
        summary: `ended a program that was let in (${kind})`,
      })
    })
    return { revoked: true as const }
  },
})

export const PERSON_OPERATIONS: readonly Operation[] = [
  login,
  signup,
  signout,
  me,
  listMyAccounts,
  listPairings,
  revokePairing,
]
