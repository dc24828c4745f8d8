/**
 * What several peers list beside tools, as one list.
 *
 * @module
 */
import { readJsonValue } from '../../core/exact-json.ts'
import { aliasNames, aliasPrefix, prefixIn } from '../../mcp/adapter/index.ts'
import { type CallContext, isJsonObject, type JsonObject, type JsonValue } from '../../mcp/index.ts'
import { type HostedPeer } from './hosted-peer.ts'
import { sharedEntry } from './shared-uris.ts'

export interface ListKind {
  /** What a peer must offer. */
  readonly offer: 'resources' | 'prompts'
  /** Where the entries stand in a result. */
  readonly member: string
}

export const LISTS: Readonly<Record<string, ListKind>> = {
  'resources/list': { offer: 'resources', member: 'resources' },
  'resources/templates/list': { offer: 'resources', member: 'resourceTemplates' },
  'prompts/list': { offer: 'prompts', member: 'prompts' },
}

/** What of a peer matters here. */
export type OfferingPeer = Pick<HostedPeer, 'label' | 'offers' | 'absence' | 'relay' | 'keep' | 'forget'>

/** More than any host shows. */
const MAX_ENTRIES = 5_000
const MAX_PAGES = 100

/** Of all peers that have some, to their ends. A peer that fails to list has none. */
export async function listShared(
  method: string,
  { offer, member }: ListKind,
  peers: readonly OfferingPeer[],
  context: CallContext,
): Promise<JsonObject> {
  const lists = await Promise.all(
    peers.map(async (peer) => {
      if (peer.offers?.[offer] === undefined) return []
      const entries = await listOf(peer, method, member, context).catch(() => [])
      return offer === 'prompts' ? aliased(peer, entries) : entries.map((entry) => sharedEntry(entry, peer.label))
    }),
  )
  return { [member]: lists.flat() }
}

/** The peer whose prompt is shown under the alias, and what the peer calls it. */
export async function findPrompt(
  alias: string,
  peers: readonly OfferingPeer[],
  context: CallContext,
): Promise<{ readonly peer: OfferingPeer; readonly name: string } | undefined> {
  const prefix = prefixIn(alias)
  const peer = peers.find(({ label }) => aliasPrefix(label) === prefix)
  if (peer === undefined || prefix === undefined) return undefined
  if (peer.absence !== undefined) throw peer.absence
  if (peer.offers?.['prompts'] === undefined) return undefined
  const name = aliasNames(prefix, namesOf(await listOf(peer, 'prompts/list', 'prompts', context))).get(alias)
  return name === undefined ? undefined : { peer, name }
}

async function listOf(
  peer: OfferingPeer,
  method: string,
  member: string,
  context: CallContext,
): Promise<readonly JsonObject[]> {
  const found: JsonObject[] = []
  let cursor: JsonValue | undefined
  for (let page = 0; page < MAX_PAGES && found.length < MAX_ENTRIES; page += 1) {
    const relayed = await peer.relay(method, cursor === undefined ? {} : { cursor }, context)
    const result = 'error' in relayed ? undefined : readJsonValue(relayed.resultText)
    if (!isJsonObject(result)) break
    const entries = result[member]
    if (Array.isArray(entries)) found.push(...(entries as readonly JsonValue[]).filter(isJsonObject))
    const next = result['nextCursor']
    if (typeof next !== 'string' || next === cursor) break
    cursor = next
  }
  return found.slice(0, MAX_ENTRIES)
}

function aliased({ label }: OfferingPeer, prompts: readonly JsonObject[]): readonly JsonObject[] {
  const byName = new Map(prompts.map((prompt) => [prompt['name'], prompt]))
  return [...aliasNames(aliasPrefix(label), namesOf(prompts))].map(([alias, name]) => {
    const prompt = byName.get(name) ?? {}
    return { ...prompt, name: alias, title: prompt['title'] ?? name }
  })
}

function namesOf(prompts: readonly JsonObject[]): readonly string[] {
  return prompts.flatMap(({ name }) => (typeof name === 'string' && name !== '' ? [name] : []))
}
