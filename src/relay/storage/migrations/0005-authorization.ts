/**
 * OAuth clients, codes, devices, and failed sign-ins.
 *
 * @module
 */
export const AUTHORIZATION: readonly string[] = [
  `create table clients (
    client_id text primary key,
    client_name text not null,
    redirect_uris text not null,
    client_uri text,
    created_at bigint not null,
    allowed_at bigint
  )`,
  `create table codes (
    code_hash text primary key,
    client_id text not null references clients (client_id),
    user_id text not null references users (id),
    redirect_uri text not null,
    code_challenge text not null,
    resource text,
    agent_scope text not null,
    selected text not null,
    created_at bigint not null,
    expires_at bigint not null,
    used_at bigint,
    connection_id text references connections (id)
  )`,
  `create table devices (
    id text primary key,
    device_hash text not null unique,
    user_code text not null unique,
    client_id text,
    hints text not null,
    status text not null,
    user_id text references users (id),
    agent_id text references agents (id),
    agent_scope text not null,
    selected text not null,
    interval_secs integer not null,
    last_polled_at bigint,
    created_at bigint not null,
    expires_at bigint not null
  )`,
  `create table sign_in_failures (
    email_hash text primary key,
    failures integer not null,
    began_at bigint not null
  )`,
  'create index clients_unused on clients (allowed_at, created_at)',
  'create index codes_expiry on codes (expires_at)',
  'create index devices_expiry on devices (expires_at)',
]
