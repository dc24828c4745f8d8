/**
 * Invocations.
 *
 * @module
 */
export const INVOCATIONS: readonly string[] = [
  `create table invocations (
    id text primary key,
    grant_id text references grants (id),
    granter_agent_id text not null references agents (id),
    grantee_agent_id text not null references agents (id),
    capability_id text not null references capabilities (id),
    capability_name text not null,
    semantics text not null,
    invoked_by_user_id text not null,
    credential_id text not null,
    idempotency_key text,
    status text not null,
    error_code text,
    error_message text,
    input text not null,
    output text,
    trust_snapshot text not null,
    consent_request_id text,
    created_at bigint not null,
    deadline_at bigint not null,
    claimed_at bigint,
    claimed_by_user_id text,
    lease_id text,
    lease_until bigint,
    attempts integer not null,
    completed_at bigint
  )`,
  'create index invocations_inbox on invocations (granter_agent_id, status, id)',
  'create index invocations_made on invocations (grantee_agent_id, capability_id, created_at)',
  'create index invocations_grant on invocations (grant_id, status)',
  'create index invocations_deadline on invocations (status, deadline_at)',
  'create unique index invocations_once on invocations (credential_id, idempotency_key) where idempotency_key is not null',
]
