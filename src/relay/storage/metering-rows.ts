/**
 * What accounts use, and may use.
 *
 * @module
 */
import { type Flag, type Id, type UnixMs } from './column.ts'

/** Invocations of an account within the minute that began then. */
export interface RateWindowRow {
  account_id: Id
  began_at: UnixMs
  count: number
}

/** Amounts are thousandths of a credit. */
export interface WalletRow {
  account_id: Id
  balance_mc: number
  /** What it gets each month; null for the relay's default. */
  monthly_free_mc: number | null
  /** The month whose grant it has, such as `2026-12`. */
  granted_month: string
  is_unlimited: Flag
}

export interface LedgerRow {
  id: Id
  account_id: Id
  delta_mc: number
  reason: 'free_grant' | 'invocation' | 'admin_grant' | 'adjustment'
  /** What it was for, where that is one thing. */
  subject_id: Id | null
  note: string
  balance_after_mc: number
  created_at: UnixMs
}
