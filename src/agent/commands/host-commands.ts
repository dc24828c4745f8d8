/**
 * The commands that MCP hosts start.
 *
 * @module
 */
import { TICKET_ENV } from '../calling/call-settings.ts'
import { type Command } from '../command.ts'
import { GATEWAY_ENV } from '../gateway/gateway-settings.ts'
import { HOST_ENV } from '../hosting/host-settings.ts'
import { COMMON_ENV } from '../settings.ts'
import { JSON_OPTION, TO_PEER } from './shared-rows.ts'

export const HOST_COMMANDS: readonly Command[] = [
  {
    words: ['mcp'],
    operands: '[<ticket or name>…]',
    arity: [0, 64],
    about: 'Be a local MCP server, over stdin and stdout, whose tools are those of peers',
    details:
      'A host such as Claude Desktop, Cursor or VS Code starts it and uses the tools of the peers as if they were local. A\npeer is dialled when the host first asks for tools. With several peers the names of their tools begin with what the\npeers are called here. Tools keep their real names in their titles; hosts are shown names that all of them accept.\n\nA ticket comes from CT_TICKET, from a file (@file), or stands there itself; an invitation is redeemed at the first use.',
    examples: ['ct-agent mcp bob', 'ct-agent mcp bob alice', 'CT_TICKET=… ct-agent mcp'],
    exits: false,
    rows: [TICKET_ENV.ticket, HOST_ENV.roots, ...TO_PEER],
    options: [],
    load: async () => (await import('./online.ts')).mcp,
  },
  {
    words: ['gateway'],
    operands: '[<ticket or name>…]',
    arity: [0, 64],
    about: 'Be an MCP server over HTTP on this machine, whose tools are those of peers',
    details:
      'The first line on stdout is the URL for hosts that take one. They share one connection to each peer, which is\ndialled when a host first asks for tools; a host that may be asked something by servers behind peers, such as to answer for\nits model, has one of its own. Names of tools are those that ct-agent mcp shows. Every program of this\nmachine may use it unless there is a token; at any other address there has to be one. Web pages may not, unless\nCT_GATEWAY_ORIGINS has their origin.\n\nA ticket comes from CT_TICKET, from a file (@file), or stands there itself; an invitation is redeemed at the first use.',
    examples: [
      'ct-agent gateway bob',
      'ct-agent gateway bob alice --addr 127.0.0.1:0 --json',
      'CT_GATEWAY_TOKEN=… ct-agent gateway bob --addr 192.0.2.7:4436 --hosts mcp.example.org',
    ],
    exits: false,
    rows: [...Object.values(GATEWAY_ENV), HOST_ENV.roots, TICKET_ENV.ticket, ...TO_PEER],
    options: [{ name: 'json', about: 'Print the URL and the names of the peers as one JSON line' }],
    load: async () => (await import('./over-http.ts')).gateway,
  },
  {
    words: ['mcp-config'],
    operands: '[<ticket or name>…]',
    arity: [0, 64],
    about: 'Print what makes an MCP host use the tools of a peer, and say where it goes',
    details:
      'The result is a block for a file of the host, or a command. A ticket goes into it as CT_TICKET, so that it is on no\ncommand line; better join the peer first, and give its name. The ticket comes from CT_TICKET, from a file (@file), or\nstands there itself.',
    examples: ['ct-agent mcp-config bob --for claude-desktop', 'CT_TICKET=… ct-agent mcp-config --for claude-code'],
    exits: true,
    rows: [TICKET_ENV.ticket, COMMON_ENV.stateDir, COMMON_ENV.configFile],
    options: [
      JSON_OPTION,
      { name: 'for', value: 'host', about: 'claude-desktop, claude-code, cursor, vscode, codex or zed' },
    ],
    load: async () => (await import('./online.ts')).mcpConfig,
  },
]
