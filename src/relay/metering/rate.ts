/**
 * How often an account may invoke: a number of times within a minute, counted in the database for all relays together.
 *
 * @module
 */
import { Refusal } from '../refusal.ts'
import { type RelayContext } from '../relay-context.ts'
import { type Sql } from '../storage/open.ts'

const WINDOW_MS = 60_000

export interface Rate {
  readonly limit: number
  /** After the one that is asked for; below zero where there was none left. */
  readonly remaining: number
  /** Until all of them are back. */
  readonly resetSecs: number
}

/** Counts one more, where there is one. */
export async function countOne({ clock, settings }: RelayContext, sql: Sql, accountId: string): Promise<Rate> {
  const account = await sql
    .selectFrom('accounts')
    .select('rate_limit_per_min')
    .where('id', '=', accountId)
    .executeTakeFirst()
  const limit = account?.rate_limit_per_min ?? settings.ratePerMinute
  const now = clock.now()
  const last = await sql.selectFrom('rate_windows').selectAll().where('account_id', '=', accountId).executeTakeFirst()
  const goesOn = last !== undefined && now - last.began_at < WINDOW_MS
  const window = { account_id: accountId, began_at: goesOn ? last.began_at : now, count: (goesOn ? last.count : 0) + 1 }
  const rate = {
    limit,
    remaining: limit - window.count,
    resetSecs: Math.max(1, Math.ceil((window.began_at + WINDOW_MS - now) / 1_000)),
  }
  if (rate.remaining < 0) return rate
  if (last === undefined) await sql.insertInto('rate_windows').values(window).execute()
  else await sql.updateTable('rate_windows').set(window).where('account_id', '=', accountId).execute()
  return rate
}

/** @see https://datatracker.ietf.org/doc/draft-ietf-httpapi-ratelimit-headers/ */
export function rateHeaders({ limit, remaining, resetSecs }: Rate): Readonly<Record<string, string>> {
  return {
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(Math.max(0, remaining)),
    'ratelimit-reset': String(resetSecs),
  }
}

export function tooOften({ resetSecs, ...rate }: Rate): Refusal {
  return new Refusal('account_rate_limited', `rate limit exceeded; retry in ${resetSecs} s`, {
    detail: { retry_after_secs: resetSecs },
    headers: { ...rateHeaders({ ...rate, resetSecs }), 'retry-after': String(resetSecs) },
  })
}
