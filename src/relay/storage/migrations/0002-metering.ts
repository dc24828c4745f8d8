/**
 * Rates, wallets and their ledger.
 *
 * @module
 */
export const METERING: readonly string[] = [
  `create table rate_windows (
    account_id text primary key references accounts (id),
    began_at bigint not null,
    count integer not null
  )`,
  `create table wallets (
    account_id text primary key references accounts (id),
    balance_mc bigint not null,
    monthly_free_mc bigint,
    granted_month text not null,
    is_unlimited integer not null
  )`,
  `create table ledger (
    id text primary key,
    account_id text not null references accounts (id),
    delta_mc bigint not null,
    reason text not null,
    subject_id text,
    note text not null,
    balance_after_mc bigint not null,
    created_at bigint not null
  )`,
  'create index ledger_account on ledger (account_id, created_at)',
]
