/**
 * The tools of all peers as one registry, under names that every host accepts.
 *
 * @module
 */
import { aliasTools, aliasWord, proxyTool } from '../../mcp/adapter/index.ts'
import { createToolRegistry, type Tool, type ToolRegistry } from '../../mcp/index.ts'
import { type HostedPeer } from './hosted-peer.ts'

/** It may be one of a peer that is not there: the host then learns why, not that there is no such tool. */
function absentTool(name: string, peers: readonly HostedPeer[]): Tool | undefined {
  const absence = peers.find((peer) => peer.absence !== undefined)?.absence
  if (absence === undefined) return undefined
  const fail = (): never => {
    throw absence
  }
  return { name, description: '', inputSchema: { type: 'object', properties: {} }, idempotent: true, call: fail }
}

/** Found by alias, and by its real name where one peer alone has a tool of that name. */
export function hostedTools(peers: readonly HostedPeer[]): ToolRegistry {
  const isAlone = peers.length === 1
  const aliases = aliasTools(
    peers.map(({ label, tools }) => ({
      prefix: isAlone ? '' : aliasWord(label, 'p_'),
      names: tools.map(({ name }) => name),
    })),
  )
  const byRealName = new Map<string, readonly Tool[]>()
  const all: Tool[] = []
  const remotes = peers.map(({ tools }) => new Map(tools.map((tool) => [tool.name, tool])))
  for (const [alias, { peer, name }] of aliases) {
    const [host, remote] = [peers[peer], remotes[peer]?.get(name)]
    if (host === undefined || remote === undefined) continue
    const tool = proxyTool(alias, remote, (real, context) => host.call(real, context))
    all.push(tool)
    byRealName.set(name, [...(byRealName.get(name) ?? []), tool])
  }
  const registry = createToolRegistry(all)
  return {
    list: registry.list,
    find: (name) => {
      const [only, ...more] = byRealName.get(name) ?? []
      return registry.find(name) ?? (more.length === 0 ? only : undefined) ?? absentTool(name, peers)
    },
  }
}
