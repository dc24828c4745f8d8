/**
 * The tools of all peers as one registry, under names that every host accepts.
 *
 * Holds: a name never reaches another peer than the one it was shown for. A name that begins like those of a peer is
 * looked for with that peer alone. A real name is found where one peer alone has a tool of that name, once the tools of
 * all peers are known: before, and for a peer that is gone for good, it could be another's.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { aliasNames, aliasPrefix, prefixIn, proxyTool, type RemoteTool } from '../../mcp/adapter/index.ts'
import {
  type CallContext,
  createToolRegistry,
  isOwnName,
  type JsonValue,
  type Tool,
  type ToolRegistry,
} from '../../mcp/index.ts'
import { type HostedPeer } from './hosted-peer.ts'
import { type InputRounds, unknownRound } from './input-rounds.ts'
import { sharedContent } from './shared-uris.ts'

/** What of a peer matters here. */
export type ToolSource = Pick<HostedPeer, 'label' | 'tools' | 'isListed' | 'absence' | 'call'> &
  Partial<Pick<HostedPeer, 'offers'>>

/** Begins the names of the peer; nothing when it is alone. */
function prefixOf({ label }: Pick<HostedPeer, 'label'>, peers: readonly unknown[]): string {
  return peers.length === 1 ? '' : aliasPrefix(label)
}

/** The peers that must be known before it can be said what the name means. */
export function peersFor<Peer extends Pick<HostedPeer, 'label'>>(
  name: string,
  peers: readonly Peer[],
): readonly Peer[] {
  if (peers.length === 1) return peers
  const prefix = prefixIn(name)
  const owner = peers.find((peer) => prefixOf(peer, peers) === prefix)
  return owner === undefined ? peers : [owner]
}

/**
 * Found by alias, and by its real name.
 *
 * @param rounds where the host may be asked something before a call ends
 */
export function hostedTools(peers: readonly ToolSource[], rounds?: Pick<InputRounds, 'run'>): ToolRegistry {
  const all: Tool[] = []
  const byRealName = new Map<string, readonly Tool[]>()
  for (const peer of peers) {
    const remotes = new Map(peer.tools.map((tool) => [tool.name, tool]))
    for (const [alias, name] of aliasNames(prefixOf(peer, peers), [...remotes.keys()])) {
      const remote = remotes.get(name)
      if (remote === undefined) continue
      const tool = proxyTool(alias, shownTool(remote, peer, peers), (real, context) => {
        const work = async (one: CallContext): Promise<JsonValue> => {
          const value = await peer.call(real, one)
          return peers.length === 1 ? value : sharedContent(value, peer.label)
        }
        if (rounds !== undefined) return rounds.run(peer.label, real, context, work)
        // To run it again would be another call.
        if (context.round?.state !== undefined) throw unknownRound()
        return work(context)
      })
      all.push(tool)
      byRealName.set(name, [...(byRealName.get(name) ?? []), tool])
    }
  }
  const registry = createToolRegistry(all)
  const find = (name: string): Tool | undefined => {
    const asked = peersFor(name, peers)
    const [only, ...more] = asked.length === peers.length ? (byRealName.get(name) ?? []) : []
    const isKnown = asked.every(({ isListed }) => isListed)
    if (only === undefined || !isKnown) return absentTool(name, asked)
    return more.length === 0 ? only : ambiguousTool(name, [only, ...more])
  }
  return { list: registry.list, find: (name) => registry.find(name) ?? find(name) }
}

/**
 * Clients refuse a whole list for a bad schema of one result, and a success that does not match a good one: such a schema
 * is shown only of servers behind a peer that is alone.
 */
function shownTool(
  { outputSchema, ...tool }: RemoteTool,
  { offers }: ToolSource,
  peers: readonly unknown[],
): RemoteTool {
  const isShown = outputSchema !== undefined && peers.length === 1 && offers !== undefined && !isOwnName(tool.name)
  return isShown ? { ...tool, outputSchema } : tool
}

/** It may be one of a peer that is not there: the host then learns why, not that there is no such tool. */
function absentTool(name: string, peers: readonly ToolSource[]): Tool | undefined {
  const absence = peers.find((peer) => peer.absence !== undefined)?.absence
  return absence === undefined ? undefined : failingTool(name, absence)
}

function ambiguousTool(name: string, tools: readonly Tool[]): Tool {
  const shown = tools.slice(0, MAX_SHOWN).map((tool) => tool.name)
  const message = `expected a name that one peer alone has, found one of ${tools.length}: ${shown.join(', ')}`
  return failingTool(name, new CtError('ERR_TOOL_UNKNOWN', message))
}

const MAX_SHOWN = 5

function failingTool(name: string, error: CtError): Tool {
  const fail = (): never => {
    throw error
  }
  return { name, description: '', inputSchema: { type: 'object', properties: {} }, idempotent: true, call: fail }
}
