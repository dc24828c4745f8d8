/**
 * Variables of the commands that sign for a channel, in the order in which the original program asks for them, and its
 * words where scripts match on them.
 *
 * @module
 */

import { CHANNEL_ENV, GRANT_ENV, INVITE_ENV, MEMBER_ENV } from '../../channel/config.ts'
import { MEMBER_REMOVAL_ENV, ROTATION_ENV } from '../../channel/membership/config.ts'
import { missing, quote } from '../../core/env.ts'
import { type Wording } from './required.ts'

const { operator, bridgeHolder, pipeline, role, noisePublicKey } = MEMBER_ENV
const { holderKey } = CHANNEL_ENV

export const MEMBER_MATERIAL = { operator, bridgeHolder, holderKey, noisePublicKey } as const
export const PIPELINE_ROLE = { operator, pipeline, role, holderKey, noisePublicKey } as const
export const GRANTING = GRANT_ENV
export const ROTATING_OPERATOR = {
  operatorKey: GRANT_ENV.operatorKey,
  newOperatorKey: ROTATION_ENV.newOperatorKey,
  channel: ROTATION_ENV.channel,
  overlapSeconds: ROTATION_ENV.overlapSeconds,
} as const
export const ROTATING_KEY = {
  holderKey,
  newHolderKey: ROTATION_ENV.newHolderKey,
  overlapSeconds: ROTATION_ENV.overlapSeconds,
} as const
export const REVOKING = { operatorKey: GRANT_ENV.operatorKey, channel: MEMBER_REMOVAL_ENV.channel } as const
export const INVITING = { operatorKey: GRANT_ENV.operatorKey, ...INVITE_ENV } as const

/** Of a word that must be one of a few. */
export const mustBe: Wording = ({ name, expects }, given) =>
  `${name} must be ${expects}, got ${given === undefined ? 'None' : `Some(${quote(given)})`}`

/** Of a point in time. */
export const pointInTime: Wording = (row, given = '') => {
  if (given.trim() === '') return missing(row).message
  const tooLarge = /^\d+$/.test(given.trim())
  return `${row.name} invalid: ${tooLarge ? 'number too large to fit in target type' : 'invalid digit found in string'}`
}
