/**
 * All that the relay can be asked to do.
 *
 * @module
 */
import { AUDIT_OPERATIONS } from './audit-operations.ts'
import { CONSENT_OPERATIONS } from './consenting/consent-operations.ts'
import { API_KEY_OPERATIONS } from './identity/api-keys.ts'
import { PERSON_OPERATIONS } from './identity/person-operations.ts'
import { INBOX_OPERATIONS } from './invoking/inbox-operations.ts'
import { INVOKE_OPERATIONS } from './invoking/invoke-operations.ts'
import { CREDIT_OPERATIONS } from './metering/credit-operations.ts'
import { AGENT_OPERATIONS } from './network/agent-operations.ts'
import { CAPABILITY_OPERATIONS } from './network/capability-operations.ts'
import { DISCOVERY_OPERATIONS } from './network/discovery-operations.ts'
import { FRIENDSHIP_OPERATIONS } from './network/friendship-operations.ts'
import { GRANT_OPERATIONS } from './network/grant-operations.ts'
import { type Operation } from './operation.ts'

export const OPERATIONS: readonly Operation[] = [
  ...PERSON_OPERATIONS,
  ...API_KEY_OPERATIONS,
  ...AGENT_OPERATIONS,
  ...CAPABILITY_OPERATIONS,
  ...FRIENDSHIP_OPERATIONS,
  ...GRANT_OPERATIONS,
  ...INVOKE_OPERATIONS,
  ...INBOX_OPERATIONS,
  ...CONSENT_OPERATIONS,
  ...DISCOVERY_OPERATIONS,
  ...AUDIT_OPERATIONS,
  ...CREDIT_OPERATIONS,
]
