/**
 * Every variable the program reads, in the order in which it is documented.
 *
 * @module
 */

import { CARD_ENV } from '../cards/config.ts'
import { BROKER_ENV } from '../channel/broker/config.ts'
import { CHANNEL_ENV, GRANT_ENV, INVITE_ENV, MEMBER_ENV } from '../channel/config.ts'
import { MEMBER_REMOVAL_ENV, ROTATION_ENV } from '../channel/membership/config.ts'
import { BROKERED_ENV } from '../channel/rendezvous/config.ts'
import { type EnvRow } from '../core/env.ts'
import { isSchemaVariable, SERVICE_ENV } from '../mcp/services/config.ts'
import { UPSTREAM_ENV } from '../mcp/upstream/config.ts'
import { BID_ENV, OFFER_ENV } from '../offers/config.ts'
import { REGISTRATION_ENV } from './artefacts/registration-settings.ts'
import { VERIFY_ENV } from './artefacts/verify-settings.ts'
import { CALL_ENV, TICKET_ENV } from './calling/call-settings.ts'
import { GATEWAY_ENV } from './gateway/gateway-settings.ts'
import { HOST_ENV } from './hosting/host-settings.ts'
import { ROSTER_ENV } from './members/member-settings.ts'
import { OBSERVING_ENV } from './observing/observing-settings.ts'
import { REGISTRY_ENV } from './registry/registry-settings.ts'
import { RELAY_ENV } from './relaying/relay-settings.ts'
import { TICKET_GRANT_ENV } from './serving/ticket-settings.ts'
import { COMMON_ENV } from './settings.ts'

export const ALL_ENV_ROWS: readonly EnvRow<unknown>[] = [
  CHANNEL_ENV,
  BROKERED_ENV,
  MEMBER_ENV,
  GRANT_ENV,
  INVITE_ENV,
  MEMBER_REMOVAL_ENV,
  ROTATION_ENV,
  BROKER_ENV,
  TICKET_GRANT_ENV,
  ROSTER_ENV,
  SERVICE_ENV,
  UPSTREAM_ENV,
  CARD_ENV,
  REGISTRATION_ENV,
  REGISTRY_ENV,
  OFFER_ENV,
  BID_ENV,
  VERIFY_ENV,
  CALL_ENV,
  TICKET_ENV,
  HOST_ENV,
  GATEWAY_ENV,
  RELAY_ENV,
  OBSERVING_ENV,
  COMMON_ENV,
].flatMap((table): readonly EnvRow<unknown>[] => Object.values(table))

/** Variables that a handler is given; an agent started by a handler finds them in its environment. */
const HANDLER_VARIABLES: ReadonlySet<string> = new Set(['CT_SERVICE_TYPE', 'CT_CALL_ID', 'CT_PEER_HOLDER'])

const NAMES: ReadonlySet<string> = new Set(ALL_ENV_ROWS.map(({ name }) => name))

/** True for a variable that somebody reads, one of a service's own included. */
export function isKnownVariable(name: string): boolean {
  return NAMES.has(name) || HANDLER_VARIABLES.has(name) || isSchemaVariable(name)
}
