/**
 * Settings of an MCP server that is served to peers.
 *
 * @module
 */
import {
  type Env,
  type EnvProblem,
  type EnvRow,
  invalid,
  parseChoice,
  parseInteger,
  parseSwitch,
  parseText,
  readEnv,
} from '../../core/env.ts'
import { type Parsed } from '../../core/ids.ts'

export const UPSTREAM_ENV = {
  command: {
    name: 'CT_AGENT_MCP_SERVER_CMD',
    about:
      'Command that is run with sh -c: an MCP server on stdin and stdout, all of which is served; or give it after --',
    expects: 'a shell command',
    parse: parseText,
    flag: 'mcp-server',
  },
  url: {
    name: 'CT_AGENT_MCP_SERVER_URL',
    about: 'Instead of a command: the address of an MCP server that speaks Streamable HTTP',
    expects: 'an http or https URL',
    parse: parseUrl,
    flag: 'mcp-server-url',
  },
  token: {
    name: 'CT_AGENT_MCP_SERVER_TOKEN',
    about: 'What is sent there as Authorization: Bearer …',
    expects: 'a text without blanks',
    parse: parseToken,
    secret: true,
  },
  mode: {
    name: 'CT_AGENT_MCP_SERVER_MODE',
    about: 'One MCP server for each peer, or one that all share, which then has no logging and can ask peers nothing',
    expects: 'peer|shared',
    parse: parseChoice({ peer: 'peer', shared: 'shared' }),
    fallback: 'peer',
    flag: 'mcp-server-mode',
  },
  most: {
    name: 'CT_AGENT_MCP_SERVER_MAX',
    about: 'MCP servers that run at the same time where each peer has its own',
    expects: 'a whole number',
    parse: parseInteger(1, 256),
    fallback: '8',
  },
  roots: {
    name: 'CT_AGENT_MCP_SERVER_ROOTS',
    about: 'Let the MCP server ask peers for their roots; some servers then open the folders that the peer names',
    expects: '1|0',
    parse: parseSwitch,
    fallback: '0',
  },
} as const satisfies Readonly<Record<string, EnvRow<unknown>>>

export interface UpstreamConfig {
  /** A command for `sh -c`, or an address. */
  readonly where: { readonly command: string } | { readonly url: string; readonly token: string | undefined }
  readonly mode: 'peer' | 'shared'
  readonly most: number
  readonly roots: boolean
}

/** `undefined` when there is no server to serve, or a problem with it. */
export function readUpstreamConfig(env: Env, problems: EnvProblem[]): UpstreamConfig | undefined {
  const before = problems.length
  const { command, url, token, ...values } = readEnv(UPSTREAM_ENV, env, problems)
  if (command !== undefined && url !== undefined) {
    problems.push(invalid(UPSTREAM_ENV.url, `expected either it or ${UPSTREAM_ENV.command.name}, found both`))
  }
  if (problems.length > before) return undefined
  if (command !== undefined) return { where: { command }, ...values }
  return url === undefined ? undefined : { where: { url, token }, ...values }
}

function parseUrl(text: string): Parsed<string> {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol))
    return { problem: 'expected an http or https URL' }
  // It would be shown wherever the address is.
  if (url.username !== '' || url.password !== '') return { problem: 'expected no user and password in it' }
  return { value: url.href }
}

function parseToken(text: string): Parsed<string> {
  return /^[\x21-\x7e]+$/.test(text.trim()) ? { value: text.trim() } : { problem: 'expected a text without blanks' }
}
