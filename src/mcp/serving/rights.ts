/**
 * Which right a request needs, where the peer is served as a member of a channel, and which tools it may call at all.
 * Without a membership all is allowed.
 *
 * Holds: what is not listed as reading needs the right to write, so nothing new is open to those who may only read.
 * Whether there is a tool that the peer may not call, it does not learn.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { hasRight, type Right } from '../../core/rights.ts'
import { type Port } from '../port.ts'
import { type Tool, type ToolRegistry } from '../tool.ts'
import { type Call, type CallScope, type PeerLimits } from './call.ts'
import { type Beside } from './faces.ts'
import { isUpstreamMethod, LISTING_METHODS } from './upstream-link.ts'

const READING_METHODS: ReadonlySet<string> = new Set(['initialize', 'ping', 'server/discover', 'tools/list'])
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
  if (scope.upstream !== undefined && scope.allowedTools !== undefined && isUpstreamMethod(method)) {
    return new CtError('ERR_TOOL_NOT_ALLOWED', 'this member may call certain tools, and ask for nothing else')
  }
  if (rights === undefined || scope.freeMethods?.has(method) === true) return undefined
  const right = neededFor(method, asked.name, scope)
  if (right === undefined || hasRight(rights, right)) return undefined
  return new CtError('ERR_RIGHTS_MISSING', `this needs the right ${right}, and the grant gives ${rights}`, {
    detail: { right },
  })
}

/** What requests of this peer have in common. */
export function scopeFor(
  { peer, sendLimitBytes }: Port,
  served: PeerLimits & Omit<CallScope, 'peer' | 'limitBytes'>,
): CallScope {
  return { ...served, registry: restricted(served), peer: peer.holder, limitBytes: sendLimitBytes }
}

/**
 * What the peer may use of what stands behind the agent. That knows nothing of single tools, so beside them it is for those
 * that may call all of them.
 */
export function besideFor({ upstream, allowedTools }: CallScope): Beside | undefined {
  if (upstream === undefined || allowedTools === undefined) return upstream
  const { tools } = upstream
  return { capabilities: {}, ...(tools === undefined ? {} : { tools }) }
}

/** What is served as the peer sees it: the list holds only tools that it may call. */
function restricted(served: PeerLimits & Pick<CallScope, 'registry'>): ToolRegistry {
  const { registry, rights, allowedTools } = served
  if (rights === undefined && allowedTools === undefined) return registry
  const isShown = ({ name }: Tool): boolean =>
    allowsTool(served, name) && (rights === undefined || hasRight(rights, neededForTool(name)))
  return {
    get list() {
      return registry.list.filter(isShown)
    },
    find: registry.find,
  }
}

function allowsTool({ allowedTools }: PeerLimits, name: string): boolean {
  return allowedTools === undefined || allowedTools.has(name) || TOOLS_OF_ALL.has(name)
}

/** None for a method that there is not. */
function neededFor(method: string, tool: unknown, { methods, upstream }: CallScope): Right | undefined {
  if (READING_METHODS.has(method)) return 'r'
  if (methods?.has(method) === true) return 'w'
  if (upstream !== undefined && isUpstreamMethod(method)) return LISTING_METHODS.has(method) ? 'r' : 'w'
  // One without a name is refused for that.
  return method === 'tools/call' && typeof tool === 'string' ? neededForTool(tool) : undefined
}

function neededForTool(name: string): Right {
  return READING_TOOLS.has(name) ? 'r' : 'w'
}
