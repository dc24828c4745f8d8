/**
 * What programs that import ct-agent see. Types alone, of nothing but what stands here: the package carries this text as
 * its declarations.
 *
 * @module
 */

/** Whatever JSON can say. Integers beyond 2^53 are texts. */
export type Json = null | boolean | number | string | readonly Json[] | JsonRecord
export interface JsonRecord {
  readonly [name: string]: Json
}

/** How far a call is, in a unit of the tool's own. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** A part of a result; `type` says which of the other members are there, see MCP's `ContentBlock`. */
export interface Content {
  readonly type: 'text' | 'image' | 'audio' | 'resource' | 'resource_link' | (string & {})
  readonly text?: string
  /** In base64. */
  readonly data?: string
  readonly mimeType?: string
  readonly uri?: string
  readonly [name: string]: Json | undefined
}

export interface ToolResult {
  readonly content: readonly Content[]
  readonly structuredContent?: Json
  /** The tool ran, and says that it failed. */
  readonly isError: boolean
}

/** A tool as its peer describes it. */
export interface ToolDescription {
  readonly name: string
  readonly description: string
  readonly title?: string
  readonly inputSchema: JsonRecord
  readonly outputSchema?: JsonRecord
  readonly annotations?: JsonRecord
}

/** What every function rejects with, when it does. */
export interface CtAgentError extends Error {
  readonly name: 'CtError'
  /** One of the codes in docs/reference.md; never renamed. */
  readonly code: string
  /** Facts beside the message, for programs. */
  readonly detail: Readonly<Record<string, unknown>>
}

export interface CommonOptions {
  /** The folder of this agent's keys and peers; that of the program unless it is set. */
  readonly stateDir?: string
  /** `CT_` variables; those of the process are not read. */
  readonly env?: Readonly<Record<string, string>>
  /** Told, in a sentence, what goes on that nobody asked for: that a link is lost, or that somebody is waited for. */
  readonly onNotice?: (sentence: string) => void
}

export interface ConnectOptions extends CommonOptions {
  /** Ends the attempt to connect. */
  readonly signal?: AbortSignal
  /** Bounds the attempt to connect, and each call; 30 s unless it is set. */
  readonly timeoutMs?: number
  /** A lost link is opened again, and the calls under way go on over it; true unless it is set. */
  readonly reconnect?: boolean
}

export interface CallOptions {
  /** Cancels the call, at the peer too. */
  readonly signal?: AbortSignal
}

/** A call under way: its result, and while that is waited for, how far it is. */
export interface ToolCall extends Promise<ToolResult>, AsyncIterable<Progress> {}

/** An agent at the far end of an encrypted channel. */
export interface Peer extends AsyncDisposable {
  /** Its key, which the handshake proved: 64 hex digits. */
  readonly holder: string
  /** What it serves this agent. */
  readonly tools: (options?: CallOptions) => Promise<readonly ToolDescription[]>
  /**
   * Calls a tool, which then runs once at most.
   *
   * `await` it for the result; iterate over it to hear how far it is. Rejects with `ERR_CALL_OUTCOME_UNKNOWN` or
   * `ERR_CALL_TIMEOUT` where it may have run and no answer came.
   */
  readonly call: (tool: string, args?: JsonRecord, options?: CallOptions) => ToolCall
  /** Any other request of MCP, such as `resources/list`. */
  readonly request: (method: string, params?: JsonRecord, options?: CallOptions) => Promise<Json>
  /** Says goodbye; calls under way end. */
  readonly close: () => Promise<void>
}

/** @param peer the name of a peer that was joined, or a ticket */
export type Connect = (peer: string, options?: ConnectOptions) => Promise<Peer>

/** A tool of this program. */
export interface OwnTool {
  /** As peers see it: letters, digits and `_ - . /`. */
  readonly name: string
  readonly description: string
  readonly title?: string
  /** A JSON Schema whose root is an object; any object unless it is set. It is shown to peers: check what comes. */
  readonly inputSchema?: JsonRecord
  /** Running the same call again does no harm; false unless it is set. */
  readonly idempotent?: boolean
  /**
   * What it returns is the result, as structured content and as text. A thrown error with a `code` of the catalogue is
   * shown to the peer; any other stays in the log, and the peer gets a reference.
   */
  readonly call: (args: JsonRecord, context: OwnToolContext) => Json | Promise<Json>
}

export interface OwnToolContext {
  /** Who calls, as the handshake proved: 64 hex digits. */
  readonly peer: string
  /** The same for every re-send of one call. */
  readonly callId: string
  /** Aborts when the caller cancels, or is gone for good. */
  readonly signal: AbortSignal
  /** Tells the caller how far the call is, if it asked for that. */
  readonly progress: (progress: Progress) => void
}

export interface ServeOptions extends CommonOptions {
  /** Tools of this program, beside what the variables ask to serve. */
  readonly tools?: readonly OwnTool[]
  /** `host:port` to listen at; port 0 lets the system choose. */
  readonly listen?: string
  /** The line that `ct-agent broker` prints: peers then reach this agent behind NATs, and may be invited. */
  readonly broker?: string
}

/** An agent that serves. */
export interface Server extends AsyncDisposable {
  /** What a peer calls with; none where only members or named keys may call. */
  readonly ticket?: string
  readonly holder: string
  /** Where it listens, as `host:port`. */
  readonly addresses: readonly string[]
  readonly tools: readonly string[]
  /** Rejects with what ended it when nobody asked it to end; resolves after `close`. */
  readonly closed: Promise<void>
  /** Takes no more calls, lets those that run finish for `CT_DRAIN_SECS` at most, and says goodbye. */
  readonly close: () => Promise<void>
}

export type Serve = (options?: ServeOptions) => Promise<Server>
