/**
 * The servers behind peers, as what stands behind a local MCP server for hosts.
 *
 * Holds: a peer is told that something can be asked here only where there is one host, and only of what that host
 * declared; of folders, only where the user allowed it. What peers tell reaches hosts that said hello.
 *
 * @module
 */

import { readJsonValue } from '../../core/exact-json.ts'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import {
  abilitiesOf,
  abilityFor,
  isAbout,
  type News,
  type Relayed,
  type ServedClient,
  type Upstream,
  uriIn,
} from '../../mcp/index.ts'
import { HostView } from './host-view.ts'
import { type OfferingPeer } from './hosted-lists.ts'
import { type HostedPeer } from './hosted-peer.ts'
import { type InputRounds } from './input-rounds.ts'
import { type Labelled, type PeerHost } from './peer-host.ts'
import { sharedUri } from './shared-uris.ts'

export interface HostedUpstreamOptions {
  /** Of what peers list beside tools, for hosts that listen. */
  readonly news: Pick<News, 'tell'>
  readonly peers: readonly (OfferingPeer & Pick<HostedPeer, 'notify' | 'serveTo'>)[]
  readonly prepare: () => Promise<void> | undefined
  /** There is one host only, so that it is clear who is asked. */
  readonly isOneHost: boolean
  /** What the host can do, where it says so in each request, and is not always there. */
  readonly declares?: JsonObject | undefined
  /** Peers may ask for the folders in which the host works. */
  readonly roots: boolean
  /** How hosts of the newest revision are asked. */
  readonly rounds: Pick<InputRounds, 'ask'>
}

export class HostedUpstream implements Upstream, PeerHost {
  readonly #options: HostedUpstreamOptions
  readonly #views = new Set<HostView>()

  constructor(options: HostedUpstreamOptions) {
    this.#options = options
    for (const peer of options.peers) peer.serveTo(this)
  }

  open(client: ServedClient): HostView {
    const { peers, prepare } = this.#options
    const view = new HostView({
      client,
      peers,
      prepare,
      onRootsChange: () => this.#rootsChanged(),
      onClose: (closed) => this.#views.delete(closed),
      isWanted: (asking, uri) => [...this.#views].some((other) => other !== asking && other.subscriptions.has(uri)),
    })
    this.#views.add(view)
    return view
  }

  abilities(): JsonObject {
    const [view, ...more] = this.#views
    if (!this.#options.isOneHost || more.length > 0) return {}
    return abilitiesOf(view?.client.capabilities ?? view?.client.declares ?? this.#options.declares, this.#options)
  }

  onOffersChange(): void {
    for (const method of LISTS_CHANGED) {
      this.#tell(method, '{}', ({ hasListed }) => hasListed)
      this.#options.news.tell(method)
    }
  }

  onNotification(peer: Labelled, method: string, params: string): void {
    if (method === 'notifications/resources/updated') this.#updated(peer, params)
    else if (TOLD.has(method)) this.#tell(method, params)
    const news = LISTS_CHANGED.find((list) => list === method)
    if (news !== undefined) this.#options.news.tell(news)
  }

  onRequest({ label }: Labelled, method: string, params: string, signal: AbortSignal): Promise<Relayed> | undefined {
    const ability = abilityFor(method)
    if (ability === undefined || this.abilities()[ability] === undefined) return undefined
    const [view] = this.#views
    return view?.client.capabilities === undefined
      ? this.#options.rounds.ask(label, method, params, signal)
      : view.client.ask(method, params, signal)
  }

  #updated({ label }: Labelled, params: string): void {
    const isAlone = this.#options.peers.length === 1
    const uri = isAlone ? uriIn(params) : sharedUri(label, uriIn(params))
    this.#tell('notifications/resources/updated', isAlone ? params : withUri(params, uri), ({ subscriptions }) =>
      isAbout(uri, subscriptions),
    )
  }

  #tell(method: string, params: string, isFor: (view: HostView) => boolean = () => true): void {
    for (const view of this.#views) {
      // Hosts of the newest revision ask for such news themselves.
      if (view.client.capabilities !== undefined && isFor(view)) view.client.notify(method, params)
    }
  }

  #rootsChanged(): void {
    if (!this.#options.roots || !this.#options.isOneHost) return
    for (const peer of this.#options.peers) peer.notify('notifications/roots/list_changed', {})
  }
}

const LISTS_CHANGED = ['notifications/prompts/list_changed', 'notifications/resources/list_changed'] as const
const TOLD: ReadonlySet<string> = new Set([
  'notifications/message',
  ...LISTS_CHANGED,
  'notifications/elicitation/complete',
])

function withUri(params: string, uri: string): string {
  const value = readJsonValue(params)
  return JSON.stringify(isJsonObject(value) ? { ...value, uri } : { uri })
}
