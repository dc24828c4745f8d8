/**
 * What a script does today to call one tool once: start the official client, which starts a stdio server.
 *
 * @module
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const server = new URL('mcp-stdio-server.ts', import.meta.url).pathname
const client = new Client({ name: 'bench', version: '1.0.0' })
await client.connect(new StdioClientTransport({ command: process.execPath, args: [server] }))
console.log(JSON.stringify(await client.callTool({ name: 'ping' })))
await client.close()
