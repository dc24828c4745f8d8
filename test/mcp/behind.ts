/**
 * A served agent with something behind it that the test answers for.
 *
 * @module
 */
import { CtError } from '../../src/core/errors.ts'
import { type JsonObject } from '../../src/core/json.ts'
import { type ExtensionContext } from '../../src/mcp/serving/extension.ts'
import { type ServedClient, type UpstreamLink } from '../../src/mcp/serving/upstream-link.ts'
import { type Tool } from '../../src/mcp/tool.ts'
import { type Relayed } from '../../src/mcp/wire/relayed.ts'
import { type ServeSetup, serve } from './serve.ts'

export const MODERN =
  '"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}'

interface Behind {
  readonly answers?: Readonly<Record<string, Relayed | CtError>>
  readonly tools?: readonly Tool[]
  readonly setup?: ServeSetup
}

export function behind({ answers = {}, tools, setup }: Behind = {}) {
  const asked: { readonly method: string; readonly params: string }[] = []
  const told: string[] = []
  const clients: ServedClient[] = []
  let closed = 0
  const served = serve({
    ...setup,
    upstream: {
      open: (client): UpstreamLink => {
        clients.push(client)
        return {
          capabilities: { logging: {}, prompts: { listChanged: true }, resources: { subscribe: true } },
          instructions: 'Be kind.',
          ...(tools === undefined
            ? {}
            : { tools: { list: tools, find: (name) => tools.find((tool) => tool.name === name) } }),
          request: async (method, { paramsText }: ExtensionContext) => {
            asked.push({ method, params: paramsText })
            const answer = answers[method] ?? { resultText: '{}' }
            if (answer instanceof CtError) throw answer
            return answer
          },
          notified: (method, params) => told.push(`${method} ${params}`),
          close: () => {
            closed += 1
          },
        }
      },
    },
  })
  const client = clients[0]
  if (client === undefined) throw new Error('expected a client')
  return { ...served, asked, told, client, closed: () => closed }
}

export function request(method: string, params = '{}'): string {
  return `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
}

export function initialize(capabilities: JsonObject = {}): string {
  return request('initialize', JSON.stringify({ protocolVersion: '2025-06-18', capabilities }))
}
