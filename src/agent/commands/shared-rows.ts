/**
 * Settings and flags that many commands have, in the order in which help texts show them.
 *
 * @module
 */
import { CHANNEL_ENV } from '../../channel/config.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type EnvRow } from '../../core/env.ts'
import { CALL_ENV, TICKET_ENV } from '../calling/call-settings.ts'
import { type Option } from '../command.ts'
import { COMMON_ENV } from '../settings.ts'

type Rows = readonly EnvRow<unknown>[]

export const JSON_OPTION: Option = { name: 'json', about: 'Print the result as one JSON line' }

/** Of commands that keep nothing. */
export const STATELESS: Rows = [COMMON_ENV.configFile, COMMON_ENV.logLevel]
export const WITH_STATE: Rows = [COMMON_ENV.stateDir, ...STATELESS]

/** Of those that know the broker from elsewhere, such as a ticket. */
const BY_FRONT_DOOR: Rows = [BROKERED_ENV.frontDoor, BROKERED_ENV.frontDoorCert, BROKERED_ENV.frontDoorOnly]
export const TO_BROKER: Rows = [BROKERED_ENV.broker, ...BY_FRONT_DOOR]

/** Of those that talk to peers. */
export const TO_PEER: Rows = [
  CALL_ENV.timeoutSeconds,
  CHANNEL_ENV.messageBytes,
  ...BY_FRONT_DOOR,
  CHANNEL_ENV.holderKey,
  CHANNEL_ENV.noiseKey,
  ...WITH_STATE,
]
/** Of those that ask the peer of a ticket, and come back to it when the link breaks. */
export const ASKING: Rows = [TICKET_ENV.ticket, CALL_ENV.reconnect, ...TO_PEER]
