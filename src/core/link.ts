/**
 * What goes over a link between two members, in the words that the two sides of the seam share: whatever carries
 * messages, and whatever makes sense of them.
 *
 * @module
 */
import { type CtError } from './errors.ts'
import { type InstanceId } from './ids.ts'

/**
 * Name of a call that survives a reconnect: the caller's run, and a number the caller never uses twice.
 * A caller sends the tag again, with `resent`, to ask for the result of a call it may already have made.
 */
export interface CallTag {
  readonly instance: InstanceId
  /** From 1, growing by one a call, at most 2^53 − 1. */
  readonly sequence: number
  /** The caller has the results of all calls below this number, and will not ask for them again. */
  readonly acknowledgedBelow: number
  /** The same call may have been sent before, on this link or an earlier one. */
  readonly resent: boolean
}

export interface OutgoingMessage {
  /** One JSON text. */
  readonly text: string
  readonly call?: CallTag
}

export type IncomingMessage =
  | { readonly kind: 'text'; readonly bytes: Uint8Array; readonly call?: CallTag }
  /** Larger than this side announced; the rest was read and thrown away. */
  | { readonly kind: 'oversize'; readonly head: Uint8Array; readonly totalBytes: number; readonly call?: CallTag }

export interface LinkEnd {
  /** Why the link ended; `ERR_LINK_CLOSED` when the peer said it was done, `ERR_LINK_LOST` when it broke without a word. */
  readonly reason: CtError
  /** True when the peer will not come back by itself: it said goodbye, or was refused. */
  readonly final: boolean
}
