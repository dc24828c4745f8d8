/**
 * The byte stream under a session, as narrow as the session needs it. A libp2p stream is one; tests have another.
 *
 * @module
 */
import { type Way } from './way.ts'

export interface Wire {
  readonly way?: Way | undefined
  /** Hands over bytes in parts; false when the wire is full: then wait for `drained` before writing more. */
  readonly write: (parts: readonly Uint8Array[]) => boolean
  /** Resolves when the wire takes bytes again; rejects when it is gone. */
  readonly drained: () => Promise<void>
  /** While held, the wire delivers nothing; what arrives waits on the way, and the peer with it. */
  readonly hold: (held: boolean) => void
  /** Closes after everything written has left; bounded by the signal. */
  readonly finish: (signal: AbortSignal) => Promise<void>
  /** Closes at once. Never throws. */
  readonly destroy: (reason: Error) => void
  /** Sets the one listener; bytes that came earlier are delivered first. `onEnd` is called once. */
  readonly listen: (listener: WireListener) => void
}

export interface WireListener {
  readonly onBytes: (bytes: Uint8Array) => void
  /** The peer writes no more, or the wire broke. */
  readonly onEnd: (error?: Error) => void
}
