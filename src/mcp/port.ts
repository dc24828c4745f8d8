/**
 * The duplex that MCP needs from whatever carries it. A channel session fits it by shape; mcp never imports channel.
 *
 * Holds: a message is delivered whole and at most once per link; once `closed` has resolved, nothing more arrives and
 * `send` rejects.
 *
 * @module
 */
import { type HolderId, type InstanceId } from '../core/ids.ts'
import { type IncomingMessage, type LinkEnd, type OutgoingMessage } from '../core/link.ts'

export interface PortPeer {
  /** Authenticated. */
  readonly holder: HolderId
  /** The peer's run, when it will send tagged calls and has sent none before this link. */
  readonly freshRun?: InstanceId
  /** Which of its programs it is. */
  readonly run?: InstanceId
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
  readonly closed: Promise<LinkEnd>
}
