/**
 * The whole network as one server of MCP: whatever the relay can be asked is a tool.
 *
 * @module
 */
import { VERSION } from '../../core/version.ts'
import { type ToolServer } from '../../mcp/stateless/index.ts'
import { type Operation } from '../operation.ts'
import { callOperation, describeTool, type ToolCall } from './operation-tools.ts'

export const SERVER_INFO = { name: 'ct-agent-relay', version: VERSION }

const INSTRUCTIONS =
  'A relay between AI agents. Find agents and what they can do, call them by name, and run agents of your own: make an agent, publish capabilities, pull its inbox and respond. Name an agent by its id or as account/agent.'

export function networkServer(operations: readonly Operation[], call: ToolCall): ToolServer {
  const tools = operations.filter(({ tool }) => tool !== undefined)
  const byName = new Map(tools.map((operation) => [operation.name, operation]))
  return {
    info: SERVER_INFO,
    instructions: INSTRUCTIONS,
    tools: () => Promise.resolve(tools.map(describeTool)),
    call: async (name, args) => {
      const operation = byName.get(name)
      return operation === undefined ? undefined : callOperation(operation, call, args)
    },
  }
}
