/**
 * What is measured, behind one interface: a server in a process of its own and an open connection to it.
 *
 * @module
 */
export interface Subject {
  readonly name: string
  readonly open: () => Promise<Opened>
}

export interface Opened {
  readonly serverPid: number
  /** One small request and its answer. */
  readonly ping: () => Promise<void>
  /** Sends for so long, one way; resolves with the number of bytes that the server says it has. */
  readonly push?: (milliseconds: number) => Promise<number>
  readonly close: () => Promise<void>
}

export type SubjectName =
  | 'ct-agent'
  | 'ct-agent mcp'
  | 'ct-agent mcp, wrapped server'
  | 'ct-agent gateway'
  | 'raw TCP'
  | 'raw libp2p'
  | 'MCP SDK stdio'
  | 'MCP SDK HTTP'
