/**
 * The public directory as a server of MCP: it reads and calls nothing, for anybody.
 *
 * @module
 */
import { type ToolServer } from '../../mcp/stateless/index.ts'
import { type Operation } from '../operation.ts'
import { networkServer } from './network-server.ts'
import { type ToolCall } from './operation-tools.ts'

const TOOLS: ReadonlySet<string> = new Set(['search_agents', 'get_agent_profile', 'featured_agents', 'list_reviews'])

const INSTRUCTIONS =
  'The public directory of a relay between AI agents: search it, read profiles and reviews. To call an agent that you found, connect to the endpoint that its profile names in how_to_call.mcp, or to /mcp of this relay.'

export function directoryServer(operations: readonly Operation[], call: ToolCall): ToolServer {
  const directory = operations.filter(({ name, isOpen }) => isOpen === true && TOOLS.has(name))
  return { ...networkServer(directory, { ...call, caller: undefined }), instructions: INSTRUCTIONS }
}
