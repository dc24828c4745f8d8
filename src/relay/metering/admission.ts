/**
 * Whether an account may invoke once more, and what that costs it.
 *
 * @module
 */
import { type Asked } from '../operation.ts'
import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type WalletRow } from '../storage/metering-rows.ts'
import { type Sql } from '../storage/open.ts'
import { countOne, rateHeaders, tooOften } from './rate.ts'
import { enter, nextGrantDay, walletOf } from './wallet.ts'

/** Running low: less than this part of a month's grant, or so many invocations' worth. */
const LOW_PART = 0.1
const LOW_INVOCATIONS = 100

/** Member of `_meta` of a result whose account runs low. */
const CREDITS_META = 'chakramcp/credits'

/**
 * Counts and charges the invocation.
 *
 * @param asked how often the account may still invoke goes into its headers
 * @returns what keeps it from that, having counted and charged nothing
 */
export async function admitInvocation(
  relay: RelayContext,
  sql: Sql,
  accountId: string,
  invocationId: string,
  asked: Asked,
): Promise<Refusal | undefined> {
  const { limitsEnforced, creditsEnabled, costPerInvocation: cost } = relay.settings
  const wallet = creditsEnabled ? await walletOf(relay, sql, accountId) : undefined
  if (wallet !== undefined && wallet.is_unlimited === 0 && wallet.balance_mc < cost) return spent(relay)
  if (limitsEnforced) {
    const rate = await countOne(relay, sql, accountId)
    if (rate.remaining < 0) return tooOften(rate)
    for (const [name, value] of Object.entries(rateHeaders(rate))) asked.headers.set(name, value)
  }
  if (wallet === undefined || wallet.is_unlimited === 1) return undefined
  const after = await enter(relay, sql, wallet, {
    delta: -cost,
    reason: 'invocation',
    note: '',
    subjectId: invocationId,
  })
  if (isLow(relay, after)) asked.meta.set(CREDITS_META, 'low')
  return undefined
}

export function isLow({ settings }: RelayContext, { balance_mc: balance, monthly_free_mc: own }: WalletRow): boolean {
  const grant = own ?? settings.monthlyFreeGrant
  return balance < Math.max(grant * LOW_PART, settings.costPerInvocation * LOW_INVOCATIONS)
}

function spent({ clock, settings }: RelayContext): Refusal {
  const [day, url] = [nextGrantDay(clock.now()), `${settings.publicUrl}/app`]
  return new Refusal(
    'account_credits_exhausted',
    `insufficient credits; the free grant arrives on ${day}, or ask the operator of this relay: ${url}`,
    { detail: { next_grant_at: day, credits_url: url } },
  )
}
