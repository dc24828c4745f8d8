/**
 * What becomes of a member's place at the relay, and of the ways it takes.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'

export type RelayState =
  | { readonly kind: 'reserved' }
  | { readonly kind: 'not-reserved'; readonly reason: CtError }
  /** A session goes this way. */
  | {
      readonly kind: 'way'
      readonly peer: HolderId
      readonly way: 'direct' | 'punched' | 'relay'
      readonly where: string
    }
