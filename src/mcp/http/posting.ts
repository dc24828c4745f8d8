/**
 * One POST that may ask, and what is needed to answer it.
 *
 * @module
 */
import { type CtError } from '../../core/errors.ts'
import { type JsonObject } from '../../core/json.ts'
import { type Log } from '../../core/log.ts'
import { type Clock } from '../../core/time.ts'
import { type Port } from '../port.ts'
import { type EventBudget } from './event-budget.ts'
import { type HostLink } from './host-link.ts'
import { type Headers, type HttpReply, type HttpRequest } from './http.ts'
import { type Accepts } from './media.ts'
import { type Sessions } from './sessions.ts'

/** What serves one link. */
export interface Served {
  /** Stops what runs; whoever waits is told the reason. */
  readonly close: (reason: CtError) => void
}

/** Who is behind a port. */
export interface HostFacts {
  /** The same for the same token. */
  readonly identity: string
  /** What it said that it can do. */
  readonly declares: JsonObject | undefined
  /** The one request of a host that has no session. */
  readonly single?: { readonly method: string; readonly state: string | undefined }
}

export interface Serving {
  /** Serves whoever is behind the port, until it closes. */
  readonly serve: (port: Port, host: HostFacts) => Served
  /** What a tool takes, where that is known. */
  readonly schemaOf: (tool: string) => JsonObject | undefined
  /** A fresh unguessable name. */
  readonly randomId: () => string
  readonly clock: Clock
  readonly log: Log
}

export interface Asking extends Serving {
  readonly request: HttpRequest
  readonly reply: HttpReply
  readonly accepts: Accepts
  /** Whose it is. */
  readonly identity: string
  /** For every answer. */
  readonly headers: Headers
  readonly sessions: Sessions
  /** Links that last for one POST, while they do. */
  readonly brief: Set<HostLink>
  /** What all sessions may keep. */
  readonly budget: EventBudget
}
