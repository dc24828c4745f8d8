/**
 * Which right a request needs, where the peer is served as a member of a channel. Without a membership all is allowed.
 *
 * Holds: what is not listed as reading needs the right to write, so nothing new is open to those who may only read.
 *
 * @module
 */
import { CtError } from '../core/errors.ts'
import { hasRight, type Right } from '../core/rights.ts'
import { type Call, type CallScope } from './call.ts'
import { type Tool } from './tool.ts'

const READING_METHODS: ReadonlySet<string> = new Set(['initialize', 'ping', 'server/discover'])
const READING_TOOLS: ReadonlySet<string> = new Set(['ping', 'agent/card', 'auction/offer'])

/** Why the peer may not ask this; nothing of it is executed then. */
export function checkRights({ request: { method }, asked, scope }: Call): CtError | undefined {
  const { rights } = scope
  if (rights === undefined) return undefined
  const right = neededFor(method, asked.name, scope.methods?.has(method) === true)
  if (right === undefined || hasRight(rights, right)) return undefined
  return new CtError('ERR_RIGHTS_MISSING', `this needs the right ${right}, and the grant gives ${rights}`, {
    detail: { right },
  })
}

/** What is served as the peer sees it: the list holds only tools that it may call, and nothing without the right to read. */
export function restricted<Served extends Pick<CallScope, 'registry' | 'rights'>>(served: Served): Served {
  const { registry, rights } = served
  if (rights === undefined) return served
  const isShown = ({ name }: Tool): boolean => hasRight(rights, 'r') && hasRight(rights, neededForTool(name))
  return { ...served, registry: { list: registry.list.filter(isShown), find: registry.find } }
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
