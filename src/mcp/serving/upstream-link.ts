/**
 * What stands behind an agent beside its own tools: a server, or several, whose answers it hands on.
 *
 * Holds: whoever stands there sees one client for each link, and asks it only what that client said it can do.
 *
 * @module
 */
import { type HolderId, type InstanceId } from '../../core/ids.ts'
import { type JsonObject } from '../../core/json.ts'
import { type Tool } from '../tool.ts'
import { type Relayed } from '../wire/relayed.ts'
import { type ExtensionContext } from './extension.ts'

/** A peer, as what stands behind the agent sees it. */
export interface ServedClient {
  readonly holder: HolderId
  /** Which of the peer's programs it is, where that is known: links of one come one after the other. */
  readonly run: InstanceId | undefined
  /** What it declared in `initialize`; nothing before, nor of those that speak the newest revision. */
  readonly capabilities: JsonObject | undefined
  /** What its latest request of the newest revision said that it can do; nothing before there was one. */
  readonly declares: JsonObject | undefined
  /** Best effort. @param params JSON text */
  readonly notify: (method: string, params: string) => void
  /**
   * Asks the peer; rejects when it cannot be asked, or when the signal aborts.
   *
   * @param params JSON text
   */
  readonly ask: (method: string, params: string, signal: AbortSignal) => Promise<Relayed>
}

export interface Upstream {
  readonly open: (client: ServedClient) => UpstreamLink
}

/** One client's view of it. */
export interface UpstreamLink {
  /** Beside `tools`, as `initialize` announces them. */
  readonly capabilities: JsonObject
  /** For the model, as `initialize` has them. */
  readonly instructions?: string | undefined
  /** Beside the agent's own, which win. */
  readonly tools?: { readonly list: readonly Tool[]; readonly find: (name: string) => Tool | undefined }
  /** Waited for before the tools are looked at. It must not reject. */
  readonly prepare?: () => Promise<void> | undefined
  /** Answers one of the methods of {@link isUpstreamMethod}; throws what else happened. */
  readonly request: (method: string, context: ExtensionContext) => Promise<Relayed>
  /** The client declared what it can do. */
  readonly initialized?: () => void
  /** @param params JSON text */
  readonly notified?: (method: string, params: string) => void
  /** The link is gone. */
  readonly close: () => void
}

/** Whether there is one is all they tell, and what there is. */
export const LISTING_METHODS: ReadonlySet<string> = new Set([
  'resources/list',
  'resources/templates/list',
  'prompts/list',
])
const LEGACY_METHODS: ReadonlySet<string> = new Set([
  'resources/subscribe',
  'resources/unsubscribe',
  'logging/setLevel',
])
const OTHER_METHODS: ReadonlySet<string> = new Set(['resources/read', 'prompts/get', 'completion/complete'])

/** What is handed on beside calls of tools. */
export function isUpstreamMethod(method: string, isModern = false): boolean {
  return LISTING_METHODS.has(method) || OTHER_METHODS.has(method) || (!isModern && LEGACY_METHODS.has(method))
}

/** Clients of the newest revision are told how long they may keep such a result. */
export function isCacheable(method: string): boolean {
  return LISTING_METHODS.has(method) || method === 'resources/read'
}
