/**
 * The official MCP SDK, its client and its server.
 *
 * @module
 */
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { rivalPath, startServer } from '../children.ts'
import { type Opened, type Subject } from '../subject.ts'

export const mcpStdioSubject: Subject = {
  name: 'MCP SDK stdio',
  open: async () => {
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [rivalPath('mcp-stdio-server.ts')],
    })
    const client = await connect(transport)
    return { ...pinging(client), serverPid: transport.pid ?? 0, close: () => client.close() }
  },
}

export const mcpHttpSubject: Subject = {
  name: 'MCP SDK HTTP',
  open: async () => {
    const server = await startServer([rivalPath('mcp-http-server.ts')])
    const { url } = JSON.parse(server.firstLine) as { readonly url: string }
    // The SDK's own class is not assignable to its own interface under exactOptionalPropertyTypes.
    const client = await connect(new StreamableHTTPClientTransport(new URL(url)) as Transport)
    return {
      ...pinging(client),
      serverPid: server.pid,
      close: async () => {
        await client.close()
        await server.stop()
      },
    }
  },
}

export async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1.0.0' })
  await client.connect(transport)
  return client
}

export function pinging(client: Client, name = 'ping'): Pick<Opened, 'ping'> {
  return {
    ping: async () => {
      await client.callTool({ name })
    },
  }
}
