/**
 * Which right a request needs, where the peer is served as a member of a channel, and which tools it may call at all.
 * Without a membership all is allowed.
 *
 * Holds: what is not listed as reading needs the right to write, so nothing new is open to those who may only read.
 * Whether there is a tool that the peer may not call, it does not learn.
 *
 * @module
 */
import { CtError } from '../core/errors.ts'
import { hasRight, type Right } from '../core/rights.ts'
import { type Call, type CallScope, type PeerLimits, type Service } from './call.ts'
import { type Port } from './port.ts'
import { type Tool } from './tool.ts'

const READING_METHODS: ReadonlySet<string> = new Set(['initialize', 'ping', 'server/discover'])
const READING_TOOLS: ReadonlySet<string> = new Set(['ping', 'agent/card', 'auction/offer'])
/** What says that the agent is there, and who it is. */
const TOOLS_OF_ALL: ReadonlySet<string> = new Set(['ping', 'agent/card'])

/** Why the peer may not ask this; nothing of it is executed then. */
export function checkRights({ request: { method }, asked, scope }: Call): CtError | undefined {
  const { rights } = scope
  const tool = method === 'tools/call' ? asked.name : undefined
  if (typeof tool === 'string' && !allowsTool(scope, tool)) {
    return new CtError('ERR_TOOL_NOT_ALLOWED', 'this tool is not among those that this member may call')
  }
  if (rights === undefined || scope.freeMethods?.has(method) === true) return undefined
  const right = neededFor(method, asked.name, scope.methods?.has(method) === true)
  if (right === undefined || hasRight(rights, right)) return undefined
  return new CtError('ERR_RIGHTS_MISSING', `this needs the right ${right}, and the grant gives ${rights}`, {
    detail: { right },
  })
}

/** What requests of this peer have in common. */
export function scopeFor({ peer, sendLimitBytes }: Port, service: Service & PeerLimits): CallScope {
  return { ...restricted(service), peer: peer.holder, limitBytes: sendLimitBytes }
}

/** What is served as the peer sees it: the list holds only tools that it may call, and nothing without the right to read. */
function restricted<Served extends PeerLimits & Pick<CallScope, 'registry'>>(served: Served): Served {
  const { registry, rights, allowedTools } = served
  if (rights === undefined && allowedTools === undefined) return served
  const isShown = ({ name }: Tool): boolean =>
    allowsTool(served, name) &&
    (rights === undefined || (hasRight(rights, 'r') && hasRight(rights, neededForTool(name))))
  return { ...served, registry: { list: registry.list.filter(isShown), find: registry.find } }
}

function allowsTool({ allowedTools }: PeerLimits, name: string): boolean {
  return allowedTools === undefined || allowedTools.has(name) || TOOLS_OF_ALL.has(name)
}

/** None for a method that there is not, nor for the list of tools, which hides what may not be called. */
function neededFor(method: string, tool: unknown, isExtension: boolean): Right | undefined {
  if (READING_METHODS.has(method)) return 'r'
  if (isExtension) return 'w'
  // One without a name is refused for that.
  return method === 'tools/call' && typeof tool === 'string' ? neededForTool(tool) : undefined
}

function neededForTool(name: string): Right {
  return READING_TOOLS.has(name) ? 'r' : 'w'
}
