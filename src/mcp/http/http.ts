/**
 * HTTP as this folder sees it: what was asked, and where the answer goes. Whatever listens fits it by shape.
 *
 * @module
 */

/** Names in lower case. */
export type Headers = Readonly<Record<string, string>>

export interface HttpRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** By its name in lower case; several of one name are joined by commas. */
  readonly header: (name: string) => string | undefined
  /** Reads all of it; once. */
  readonly body: () => Promise<Body>
}

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Uint8Array }
  | { readonly kind: 'oversize'; readonly head: Uint8Array; readonly totalBytes: number }
  /** There is no room for it now. */
  | { readonly kind: 'crowded' }
  /** The client went away, or said more than anybody reads. */
  | { readonly kind: 'cut' }

/** Exactly one of the two ways to answer is taken, and once. */
export interface HttpReply {
  readonly answer: (status: number, headers: Headers, body?: string) => void
  readonly stream: (headers: Headers) => EventSink
  /** Tells once, when the client is gone before it has all of the answer. */
  readonly onGone: (listener: () => void) => void
  /** Tells once, when there is no more to it: the client has it all, or is gone. */
  readonly onEnd: (listener: () => void) => void
}

/** An answer that goes on. */
export interface EventSink {
  /** Takes the text in any case, also when nobody is there any more; false when no more should be written before it is drained. */
  readonly write: (text: string) => boolean
  readonly onDrain: (listener: () => void) => void
  readonly onGone: (listener: () => void) => void
  readonly end: () => void
  /** Ends at once, whatever was not sent yet. */
  readonly destroy: () => void
}
