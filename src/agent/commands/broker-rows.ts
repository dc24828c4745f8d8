/**
 * The settings that lead to a broker, for the commands that go there.
 *
 * @module
 */
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type EnvRow } from '../../core/env.ts'

/** Of those that know the broker from elsewhere, such as a ticket. */
export const BY_FRONT_DOOR: readonly EnvRow<unknown>[] = [
  BROKERED_ENV.frontDoor,
  BROKERED_ENV.frontDoorCert,
  BROKERED_ENV.frontDoorOnly,
]
export const TO_BROKER: readonly EnvRow<unknown>[] = [BROKERED_ENV.broker, ...BY_FRONT_DOOR]
