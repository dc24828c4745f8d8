/**
 * The official SDK's server with the one tool that is measured, under a second name for who serves a `ping` of its own.
 *
 * @module
 */
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { PONG } from './ping-answer.ts'

export function createPingServer(): McpServer {
  const server = new McpServer({ name: 'rival', version: '1.0.0' })
  server.registerTool('ping', { description: 'Answers pong' }, () => PONG)
  server.registerTool('echo', { description: 'Answers pong' }, () => PONG)
  return server
}
