/**
 * The official SDK's server over stdio.
 *
 * @module
 */
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { createPingServer } from './mcp-tools.ts'

await createPingServer().connect(new StdioServerTransport())
