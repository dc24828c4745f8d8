/**
 * The official SDK's server over Streamable HTTP: one session, plain JSON answers, which is its fastest way.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { type Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { createPingServer } from './mcp-tools.ts'

const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, enableJsonResponse: true })
// The SDK's own class is not assignable to its own interface under exactOptionalPropertyTypes.
await createPingServer().connect(transport as Transport)

const server = createServer((request, response) => {
  void transport.handleRequest(request, response)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}/mcp` }))
})
