/**
 * What kind of capacity is sold.
 *
 * @module
 */
import { oneOf } from '../core/json-shape.ts'

export type CapacityKind = 'CloudApiQuota' | 'LocalHardware'

/** Byte that stands for the kind in what is signed. */
export const CAPACITY_TAGS: Readonly<Record<CapacityKind, number>> = { CloudApiQuota: 0, LocalHardware: 1 }

export const capacityKind = oneOf<CapacityKind>({ CloudApiQuota: 'CloudApiQuota', LocalHardware: 'LocalHardware' })

/** The words by which people name the kinds. */
export const CAPACITY_WORDS: Readonly<Record<string, CapacityKind>> = {
  cloud: 'CloudApiQuota',
  'cloud-api': 'CloudApiQuota',
  CloudApiQuota: 'CloudApiQuota',
  local: 'LocalHardware',
  'local-hardware': 'LocalHardware',
  LocalHardware: 'LocalHardware',
}
