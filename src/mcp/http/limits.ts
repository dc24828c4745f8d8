/**
 * The bounds of MCP over HTTP.
 *
 * @module
 */
import { MAX_LINE_BYTES } from '../adapter/line-port.ts'

/** What stdio takes in one line. */
export const MAX_BODY_BYTES = MAX_LINE_BYTES
/** POSTs under way in all sessions together; those without a session have no other bound. */
export const MAX_POSTS = 1_024
export const MAX_SESSIONS = 512
/** A session that nothing uses and nobody listens to. */
export const SESSION_IDLE_MS = 1_800_000
/** How often sessions and what is kept for them are looked at. */
export const SWEEP_MS = 15_000
/** An answer that comes sooner is one JSON text; then a stream begins, so that nobody on the way takes silence for the end. */
export const AT_ONCE_MS = 100
/** Far below what proxies and clients bear. */
export const KEEPALIVE_MS = 10_000
/** A client that takes nothing for so long is cut off; it can come back for what it missed. */
export const SLOW_READER_MS = 30_000
/** When a client is to come back after a cut. */
export const RETRY_MS = 1_000
/** What a client may come back for: kept so long after the last answer. */
export const KEEP_FINISHED_MS = 120_000
/** Events of one stream. */
export const MAX_KEPT_EVENTS = 1_000
/** Streams of one session. */
export const MAX_KEPT_STREAMS = 256
/** Characters of events kept for one session: more than the largest answer. */
export const MAX_SESSION_EVENT_CHARS = 16_777_216
/** The same for all sessions. */
export const MAX_EVENT_CHARS = 134_217_728
