/**
 * Reading and managing what accounts have to spend.
 *
 * @module
 */
import { z } from 'zod'
import { audit } from '../audit.ts'
import { id, isoTime, slug, time } from '../fields.ts'
import { type Caller } from '../identity/caller.ts'
import { type Operation, operation } from '../operation.ts'
import { notFound, Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type WalletRow } from '../storage/metering-rows.ts'
import { type Sql } from '../storage/open.ts'
import { isLow } from './admission.ts'
import { enter, nextGrantDay, walletOf } from './wallet.ts'

const MAX_SHOWN_ENTRIES = 100
const MAX_NOTE_CHARS = 200
const MAX_AMOUNT = 1_000_000_000_000
const MAX_RATE = 1_000_000

const creditsShape = z.object({
  account_id: id,
  enabled: z.boolean(),
  balance_mc: z.number(),
  monthly_free_grant_mc: z.number(),
  next_grant_at: z.string(),
  unlimited: z.boolean(),
  low: z.boolean(),
  rate_limit_per_min: z.number(),
  rate_limit_enforced: z.boolean(),
  ledger: z.array(
    z.object({
      id,
      delta_mc: z.number(),
      reason: z.string(),
      note: z.string(),
      balance_after_mc: z.number(),
      created_at: time,
    }),
  ),
})

const getCredits = operation({
  name: 'get_credits',
  about: 'What an account of yours has to spend, and how often it may invoke',
  rest: { method: 'get', path: '/v1/orgs/{slug}/credits' },
  input: z.object({ slug }),
  output: creditsShape,
  run: async (relay, caller, input) =>
    relay.database.transaction(async (sql) => {
      const account = await sql
        .selectFrom('accounts')
        .select('id')
        .where('slug', '=', input.slug)
        .where('tombstoned_at', 'is', null)
        .executeTakeFirst()
      if (account === undefined || !caller.roles.has(account.id)) throw notFound('an account')
      return show(relay, sql, account.id)
    }),
})

const getAccountCredits = operation({
  name: 'get_account_credits',
  about: 'What any account has to spend; for administrators',
  rest: { method: 'get', path: '/v1/admin/accounts/{account_id}/credits' },
  input: z.object({ account_id: id }),
  output: creditsShape,
  run: async (relay, caller, input) => {
    requireAdmin(caller)
    return relay.database.transaction(async (sql) => {
      await requireAccount(sql, input.account_id)
      return show(relay, sql, input.account_id)
    })
  },
})

const changeAccountCredits = operation({
  name: 'change_account_credits',
  about: 'Change what an account gets each month and how often it may invoke; for administrators',
  rest: { method: 'patch', path: '/v1/admin/accounts/{account_id}/credits' },
  input: z.object({
    account_id: id,
    monthly_free_grant_mc: z.int().min(0).max(MAX_AMOUNT).nullable().optional(),
    unlimited: z.boolean().optional(),
    rate_limit_per_min: z.int().min(1).max(MAX_RATE).nullable().optional(),
  }),
  output: creditsShape,
  run: async (relay, caller, input) => {
    requireAdmin(caller)
    return relay.database.transaction(async (sql) => {
      const { account_id: accountId, monthly_free_grant_mc: grant, unlimited, rate_limit_per_min: rate } = input
      await requireAccount(sql, accountId)
      const wallet = await walletOf(relay, sql, accountId)
      await sql
        .updateTable('wallets')
        .set({
          monthly_free_mc: grant === undefined ? wallet.monthly_free_mc : grant,
          is_unlimited: unlimited === undefined ? wallet.is_unlimited : unlimited ? 1 : 0,
        })
        .where('account_id', '=', accountId)
        .execute()
      if (rate !== undefined) {
        await sql.updateTable('accounts').set({ rate_limit_per_min: rate }).where('id', '=', accountId).execute()
      }
      await audit(relay, sql, caller, {
        action: 'credits.change',
        resourceId: accountId,
        accountId,
        summary: 'changed the limits of an account',
      })
      return show(relay, sql, accountId)
    })
  },
})

const enterCredits = operation({
  name: 'enter_credits',
  about: 'Give an account credits, or take some away; for administrators',
  rest: { method: 'post', path: '/v1/admin/accounts/{account_id}/credits/ledger', status: 201 },
  input: z.object({
    account_id: id,
    delta_mc: z.int().min(-MAX_AMOUNT).max(MAX_AMOUNT),
    reason: z.enum(['admin_grant', 'adjustment']).default('admin_grant'),
    note: z.string().max(MAX_NOTE_CHARS).default(''),
  }),
  output: creditsShape,
  run: async (relay, caller, input) => {
    requireAdmin(caller)
    return relay.database.transaction(async (sql) => {
      const { account_id: accountId, delta_mc: delta, reason, note } = input
      await requireAccount(sql, accountId)
      await enter(relay, sql, await walletOf(relay, sql, accountId), { delta, reason, note })
      await audit(relay, sql, caller, {
        action: 'credits.enter',
        resourceId: accountId,
        accountId,
        summary: `changed the credits of an account by ${delta} mc`,
      })
      return show(relay, sql, accountId)
    })
  },
})

function requireAdmin({ isAdmin }: Caller): void {
  if (!isAdmin) throw new Refusal('forbidden', 'expected an administrator of this relay, signed in with a browser')
}

async function requireAccount(sql: Sql, accountId: string): Promise<void> {
  const account = await sql.selectFrom('accounts').select('id').where('id', '=', accountId).executeTakeFirst()
  if (account === undefined) throw notFound('an account')
}

async function show(relay: RelayContext, sql: Sql, accountId: string): Promise<z.infer<typeof creditsShape>> {
  const { settings, clock } = relay
  const wallet: WalletRow = await walletOf(relay, sql, accountId)
  const account = await sql
    .selectFrom('accounts')
    .select('rate_limit_per_min')
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow()
  const ledger = await sql
    .selectFrom('ledger')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_SHOWN_ENTRIES)
    .execute()
  return {
    account_id: accountId,
    enabled: settings.creditsEnabled,
    balance_mc: wallet.balance_mc,
    monthly_free_grant_mc: wallet.monthly_free_mc ?? settings.monthlyFreeGrant,
    next_grant_at: nextGrantDay(clock.now()),
    unlimited: wallet.is_unlimited === 1,
    low: isLow(relay, wallet),
    rate_limit_per_min: account.rate_limit_per_min ?? settings.ratePerMinute,
    rate_limit_enforced: settings.limitsEnforced,
    ledger: ledger.map(({ id: entryId, delta_mc, reason, note, balance_after_mc, created_at }) => ({
      id: entryId,
      delta_mc,
      reason,
      note,
      balance_after_mc,
      created_at: isoTime(created_at),
    })),
  }
}

export const CREDIT_OPERATIONS: readonly Operation[] = [
  getCredits,
  getAccountCredits,
  changeAccountCredits,
  enterCredits,
]
