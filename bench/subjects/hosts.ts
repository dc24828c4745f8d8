/**
 * What an MCP host sees of a peer: the official client, our adapter or gateway, and a server at the far end of a channel.
 *
 * @module
 */
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { type Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { agentEnv, PROGRAM, rivalPath, type Started, startServer } from '../children.ts'
import { type Opened, type Subject } from '../subject.ts'
import { connect, pinging } from './mcp-sdk.ts'

const WRAPPED = ['--', process.execPath, rivalPath('mcp-stdio-server.ts')]

export const adapterSubject: Subject = {
  name: 'ct-agent mcp',
  open: () => throughAdapter('adapter', [], 'ping'),
}

export const wrappedSubject: Subject = {
  name: 'ct-agent mcp, wrapped server',
  open: () => throughAdapter('wrapped', WRAPPED, 'echo'),
}

export const gatewaySubject: Subject = {
  name: 'ct-agent gateway',
  open: async () => {
    const server = await serve('gateway', [])
    const gateway = await startServer(
      [PROGRAM, 'gateway', server.firstLine, '--addr', '127.0.0.1:0'],
      agentEnv('gateway-host'),
    )
    const client = await connect(new StreamableHTTPClientTransport(new URL(gateway.firstLine)) as Transport)
    return {
      ...pinging(client),
      serverPid: server.pid,
      close: async () => {
        await client.close()
        await gateway.stop()
        await server.stop()
      },
    }
  },
}

async function throughAdapter(name: string, more: readonly string[], tool: string): Promise<Opened> {
  const server = await serve(name, more)
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [PROGRAM, 'mcp', server.firstLine],
    env: Object.fromEntries(Object.entries(agentEnv(`${name}-host`)).map(([key, value = '']) => [key, value])),
  })
  const client = await connect(transport)
  return {
    ...pinging(client, tool),
    serverPid: server.pid,
    close: async () => {
      await client.close()
      await server.stop()
    },
  }
}

function serve(name: string, more: readonly string[]): Promise<Started> {
  return startServer([PROGRAM, 'serve', '--listen', '127.0.0.1:0', ...more], agentEnv(`${name}-server`))
}
