/**
 * The duplex that MCP needs from whatever carries it. A channel session fits it by shape; mcp never imports channel.
 *
 * Holds: a message is delivered whole and at most once per link; once `closed` has resolved, nothing more arrives and
 * `send` rejects.
 *
 * @module
 */
import { type CtError } from '../core/errors.ts'
import { type HolderId, type InstanceId } from '../core/ids.ts'

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

export interface PortEnd {
  /** Why the link ended; `ERR_LINK_CLOSED` when the peer said it was done, `ERR_LINK_LOST` when it broke without a word. */
  readonly reason: CtError
  /** True when the peer will not come back by itself: it said goodbye, or was refused. */
  readonly final: boolean
}

export interface PortPeer {
  /** Authenticated. */
  readonly holder: HolderId
  /** The peer's run, when it will send tagged calls and has sent none before this link. */
  readonly freshRun?: InstanceId
}

export interface Port {
  readonly peer: PortPeer
  /** Both sides have admitted each other; until then, the peer does nothing that it is asked. Stays true after the end. */
  readonly isReady: boolean
  /** Largest message the peer accepts, in UTF-8 bytes. */
  readonly sendLimitBytes: number
  /** Requests the peer works on at once, as it announced. */
  readonly peerInFlight: number
  /** Largest message this side accepts, in UTF-8 bytes. */
  readonly receiveLimitBytes: number
  /**
   * Queues one message; resolves when it has left the bounded queue for the link.
   *
   * Rejects with `ERR_MESSAGE_TOO_LARGE` before queueing anything, or with the reason the link ended.
   */
  readonly send: (message: OutgoingMessage) => Promise<void>
  /** Sets the one listener; messages that came earlier are delivered first. It must not throw. */
  readonly receive: (listener: (message: IncomingMessage) => void) => void
  /** True while an answer is awaited or a call runs: the link then looks after its peer more often. */
  readonly watch: (watched: boolean) => void
  /** Resolves once, never rejects. */
  readonly closed: Promise<PortEnd>
}
