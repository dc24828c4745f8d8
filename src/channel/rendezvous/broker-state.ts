/**
 * What happens to a member at its broker, for whoever tells people.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type Address } from '../address.ts'

export type BrokerState =
  | { readonly kind: 'joined'; readonly observed: Address }
  | { readonly kind: 'hint'; readonly text: string }
  /** Nobody came in time; joined again at once. */
  | { readonly kind: 'expired' }
  /** Tried again after the delay. */
  | { readonly kind: 'trouble'; readonly reason: CtError; readonly delayMs: number }
