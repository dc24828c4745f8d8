/**
 * One host's view of the servers that stand behind its peers.
 *
 * Holds: with one peer, what the host asks and is answered is what the server of that peer would be asked and answer.
 * With several, lists are joined, and every name says whose it is.
 *
 * @module
 */
import { readJsonValue } from '../../core/exact-json.ts'
import {
  type CallContext,
  handedParams,
  isJsonObject,
  type JsonObject,
  type Relayed,
  RPC_INVALID_PARAMS,
  RPC_UNKNOWN_METHOD,
  type ServedClient,
  type UpstreamLink,
} from '../../mcp/index.ts'
import { findPrompt, LISTS, type ListKind, listShared, type OfferingPeer } from './hosted-lists.ts'
import { readSharedUri, sharedContents, sharedMessages } from './shared-uris.ts'

export interface HostViewOptions {
  readonly client: ServedClient
  readonly peers: readonly OfferingPeer[]
  /** Waits for the peers, no longer than a host bears with. */
  readonly prepare: () => Promise<void> | undefined
  readonly onRootsChange: () => void
  readonly onClose: (view: HostView) => void
  /** Some other host wants to be told of the resource. */
  readonly isWanted: (view: HostView, uri: string) => boolean
}

type Context = CallContext & { readonly paramsText: string }

/** Servers of the official SDKs have the same code for it. */
const NOT_FOUND = -32_002
/** Resources that one host may want to be told of. */
const MAX_SUBSCRIPTIONS = 1_024
const DONE: Relayed = { resultText: '{}' }

export class HostView implements UpstreamLink {
  /** Announced before any peer is there: what there is not is listed as empty. */
  readonly capabilities: JsonObject = {
    completions: {},
    logging: {},
    prompts: { listChanged: true },
    resources: { listChanged: true, subscribe: true },
  }
  /** By the names that the host knows. */
  readonly subscriptions = new Set<string>()
  readonly #options: HostViewOptions
  #hasListed = false

  constructor(options: HostViewOptions) {
    this.#options = options
  }

  get client(): ServedClient {
    return this.#options.client
  }

  /** It has asked for something that may change. */
  get hasListed(): boolean {
    return this.#hasListed
  }

  async request(method: string, context: Context): Promise<Relayed> {
    await this.#options.prepare()
    const params = handedParams(context.paramsText)
    const kind = LISTS[method]
    if (kind !== undefined) {
      this.#hasListed = true
      return this.#list(method, kind, params, context)
    }
    switch (method) {
      case 'prompts/get':
        return this.#prompt(params, context)
      case 'completion/complete':
        return this.#complete(params, context)
      case 'logging/setLevel':
        return this.#setLevel(params, context)
      default:
        return this.#resource(method, params, context)
    }
  }

  notified(method: string): void {
    if (method === 'notifications/roots/list_changed') this.#options.onRootsChange()
  }

  close(): void {
    this.#options.onClose(this)
  }

  get #alone(): OfferingPeer | undefined {
    const [peer, ...more] = this.#options.peers
    return more.length === 0 ? peer : undefined
  }

  async #list(method: string, kind: ListKind, params: JsonObject, context: Context): Promise<Relayed> {
    const alone = this.#alone
    if (alone === undefined) {
      return { resultText: JSON.stringify(await listShared(method, kind, this.#options.peers, context)) }
    }
    if (alone.offers?.[kind.offer] === undefined) return { resultText: JSON.stringify({ [kind.member]: [] }) }
    return alone.relay(method, params, context)
  }

  async #resource(method: string, params: JsonObject, context: Context): Promise<Relayed> {
    const { uri } = params
    const found = typeof uri === 'string' ? this.#ownerOf(uri) : undefined
    if (typeof uri !== 'string' || found === undefined) return notFound(uri)
    const { peer } = found
    const asked = { ...params, uri: found.uri }
    if (method === 'resources/unsubscribe') {
      this.subscriptions.delete(uri)
      if (this.#options.isWanted(this, uri)) return DONE
      peer.forget(`subscription ${found.uri}`)
    }
    if (peer.absence !== undefined) throw peer.absence
    if (peer.offers?.['resources'] === undefined) return notFound(uri)
    if (method === 'resources/subscribe') {
      if (this.subscriptions.size >= MAX_SUBSCRIPTIONS) {
        return {
          error: { code: RPC_INVALID_PARAMS, message: `at most ${MAX_SUBSCRIPTIONS} resources may be subscribed to` },
        }
      }
      this.subscriptions.add(uri)
      const relayed = await peer.relay(method, asked, context)
      if ('error' in relayed) this.subscriptions.delete(uri)
      else peer.keep(`subscription ${found.uri}`, method, asked)
      return relayed
    }
    const relayed = await peer.relay(method, asked, context)
    return this.#alone === undefined ? mapped(relayed, (result) => sharedContents(result, peer.label)) : relayed
  }

  async #prompt(params: JsonObject, context: Context): Promise<Relayed> {
    const name = typeof params['name'] === 'string' ? params['name'] : ''
    const alone = this.#alone
    if (alone !== undefined) return askWhereOffered(alone, 'prompts', ['prompts/get', params, context], noPrompt(name))
    const found = await findPrompt(name, this.#options.peers, context)
    if (found === undefined) return noPrompt(name)
    const relayed = await found.peer.relay('prompts/get', { ...params, name: found.name }, context)
    return mapped(relayed, (result) => sharedMessages(result, found.peer.label))
  }

  async #complete(params: JsonObject, context: Context): Promise<Relayed> {
    const alone = this.#alone
    if (alone !== undefined) {
      return askWhereOffered(alone, 'completions', ['completion/complete', params, context], NOTHING_TO_COMPLETE)
    }
    const { ref } = params
    if (!isJsonObject(ref)) return noPrompt('')
    const { name, uri } = ref
    if (typeof uri === 'string') {
      const found = this.#ownerOf(uri)
      if (found === undefined) return notFound(uri)
      return found.peer.relay('completion/complete', { ...params, ref: { ...ref, uri: found.uri } }, context)
    }
    const found = typeof name === 'string' ? await findPrompt(name, this.#options.peers, context) : undefined
    if (found === undefined) return noPrompt(typeof name === 'string' ? name : '')
    return found.peer.relay('completion/complete', { ...params, ref: { ...ref, name: found.name } }, context)
  }

  /** Peers that come later are told too; those that have no log have nothing to say. */
  async #setLevel(params: JsonObject, context: Context): Promise<Relayed> {
    const answers = await Promise.all(
      this.#options.peers.map(async (peer) => {
        peer.keep('level', 'logging/setLevel', params)
        if (peer.offers === undefined || peer.absence !== undefined) return DONE
        return peer.relay('logging/setLevel', params, context)
      }),
    )
    return answers.find((answer) => 'error' in answer && answer.error.code !== RPC_UNKNOWN_METHOD) ?? DONE
  }

  #ownerOf(uri: string): { readonly peer: OfferingPeer; readonly uri: string } | undefined {
    const alone = this.#alone
    if (alone !== undefined) return { peer: alone, uri }
    const own = readSharedUri(uri)
    const peer = this.#options.peers.find(({ label }) => label === own?.label)
    return own === undefined || peer === undefined ? undefined : { peer, uri: own.uri }
  }
}

/** @param otherwise what there is where the peer has nothing of the kind */
async function askWhereOffered(
  peer: OfferingPeer,
  offer: string,
  asked: Parameters<OfferingPeer['relay']>,
  otherwise: Relayed,
): Promise<Relayed> {
  if (peer.absence !== undefined) throw peer.absence
  return peer.offers?.[offer] === undefined ? otherwise : peer.relay(...asked)
}

const NOTHING_TO_COMPLETE: Relayed = { resultText: '{"completion":{"values":[]}}' }

function notFound(uri: unknown): Relayed {
  const data = typeof uri === 'string' ? { data: { uri } } : {}
  return { error: { code: NOT_FOUND, message: 'resource not found', ...data } }
}

function noPrompt(name: string): Relayed {
  return { error: { code: RPC_INVALID_PARAMS, message: `unknown prompt \`${name.slice(0, MAX_SHOWN_CHARS)}\`` } }
}

const MAX_SHOWN_CHARS = 200

function mapped(relayed: Relayed, change: (result: JsonObject) => JsonObject): Relayed {
  if ('error' in relayed) return relayed
  const result = readJsonValue(relayed.resultText)
  return isJsonObject(result) ? { resultText: JSON.stringify(change(result)) } : relayed
}
