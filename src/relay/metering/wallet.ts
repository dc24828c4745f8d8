/**
 * What an account has to spend, in thousandths of a credit. Each month adds to it; what is left stays.
 *
 * Holds: every change of a balance stands in the ledger with the balance after it.
 *
 * @module
 */
import { newId, type RelayContext } from '../relay-context.ts'
import { type LedgerRow, type WalletRow } from '../storage/metering-rows.ts'
import { type Sql } from '../storage/open.ts'

/** The wallet with the grants of this month in it. */
export async function walletOf(relay: RelayContext, sql: Sql, accountId: string): Promise<WalletRow> {
  const found = await sql.selectFrom('wallets').selectAll().where('account_id', '=', accountId).executeTakeFirst()
  const month = monthOf(relay.clock.now())
  if (found?.granted_month === month) return found
  const wallet = found ?? (await begin(sql, accountId, month))
  const grant = wallet.monthly_free_mc ?? relay.settings.monthlyFreeGrant
  await sql.updateTable('wallets').set({ granted_month: month }).where('account_id', '=', accountId).execute()
  return enter(relay, sql, { ...wallet, granted_month: month }, { delta: grant, reason: 'free_grant', note: month })
}

async function begin(sql: Sql, accountId: string, month: string): Promise<WalletRow> {
  const wallet = {
    account_id: accountId,
    balance_mc: 0,
    monthly_free_mc: null,
    granted_month: month,
    is_unlimited: 0,
  } as const
  await sql.insertInto('wallets').values(wallet).execute()
  return wallet
}

export interface Entry {
  /** Thousandths of a credit; below zero where it takes away. */
  readonly delta: number
  readonly reason: LedgerRow['reason']
  readonly note: string
  readonly subjectId?: string
}

/** @returns the wallet after it */
export async function enter(
  relay: RelayContext,
  sql: Sql,
  wallet: WalletRow,
  { delta, reason, note, subjectId }: Entry,
): Promise<WalletRow> {
  if (delta === 0) return wallet
  const balance = wallet.balance_mc + delta
  await sql.updateTable('wallets').set({ balance_mc: balance }).where('account_id', '=', wallet.account_id).execute()
  await sql
    .insertInto('ledger')
    .values({
      id: newId(relay),
      account_id: wallet.account_id,
      delta_mc: delta,
      reason,
      subject_id: subjectId ?? null,
      note,
      balance_after_mc: balance,
      created_at: relay.clock.now(),
    })
    .execute()
  return { ...wallet, balance_mc: balance }
}

/** Such as `2026-12`, in UTC. */
function monthOf(unixMs: number): string {
  return new Date(unixMs).toISOString().slice(0, 7)
}

/** When the next month begins: ISO 8601, a day. */
export function nextGrantDay(unixMs: number): string {
  const now = new Date(unixMs)
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString().slice(0, 10)
}
