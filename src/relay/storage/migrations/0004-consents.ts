/**
 * Consents, and notices to agents.
 *
 * @module
 */
export const CONSENTS: readonly string[] = [
  `create table consent_requests (
    id text primary key,
    kind text not null,
    capability_id text not null references capabilities (id),
    invocation_id text not null references invocations (id),
    requester_agent_id text not null references agents (id),
    serving_agent_id text not null references agents (id),
    purpose text,
    valid_for_secs bigint,
    max_requests integer,
    draft_output text,
    status text not null,
    reason text,
    created_at bigint not null,
    expires_at bigint not null,
    decided_by_user_id text,
    decided_at bigint
  )`,
  `create table consents (
    id text primary key,
    consent_request_id text not null references consent_requests (id),
    capability_id text not null references capabilities (id),
    requester_agent_id text not null references agents (id),
    serving_agent_id text not null references agents (id),
    purpose text,
    valid_until bigint not null,
    remaining_requests integer,
    granted_by_user_id text not null,
    created_at bigint not null,
    revoked_at bigint
  )`,
  `create table notices (
    id text primary key,
    agent_id text not null references agents (id),
    kind text not null,
    payload text not null,
    created_at bigint not null,
    pulled_at bigint
  )`,
  'create index consent_requests_serving on consent_requests (serving_agent_id, status)',
  'create index consent_requests_invocation on consent_requests (invocation_id)',
  'create index consent_requests_expiry on consent_requests (status, expires_at)',
  'create index consents_for on consents (capability_id, requester_agent_id)',
  'create index notices_unread on notices (agent_id, id) where pulled_at is null',
]
