/**
 * What to put where, so that an MCP host starts this program. Pure.
 *
 * Holds: a ticket, which is a secret, goes into the environment of the program and never onto its command line, which
 * others can see for as long as it runs.
 *
 * @module
 */

export const HOSTS = ['claude-desktop', 'claude-code', 'cursor', 'vscode', 'codex', 'zed'] as const
export type HostName = (typeof HOSTS)[number]

/** A program and its first arguments. */
export type Program = readonly [string, ...string[]]

export interface HostEntry {
  readonly program: Program
  /** What the host calls the server: letters, digits, `-` and `_`. */
  readonly name: string
  /** Names of peers. */
  readonly peers: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export interface HostConfig {
  /** A block of a file, or a command. */
  readonly text: string
  /** Where it goes, for people. */
  readonly where: string
}

export function hostConfig(host: HostName, entry: HostEntry): HostConfig {
  const { name } = entry
  switch (host) {
    case 'claude-desktop':
      return {
        text: json({ mcpServers: { [name]: started(entry) } }),
        where:
          'merge into claude_desktop_config.json (Settings, Developer, Edit Config), then restart Claude Desktop; macOS: ~/Library/Application Support/Claude/, Windows: %APPDATA%\\Claude\\',
      }
    case 'claude-code':
      return {
        text: `claude mcp add-json ${name} ${quoted(JSON.stringify({ type: 'stdio', ...started(entry) }))}`,
        where: 'run in the folder of the project, or with --scope user for all of them',
      }
    case 'cursor':
      return {
        text: json({ mcpServers: { [name]: started(entry) } }),
        where: 'merge into ~/.cursor/mcp.json, or .cursor/mcp.json of one project',
      }
    case 'vscode':
      return {
        text: json({ servers: { [name]: { type: 'stdio', ...started(entry) } } }),
        where: 'merge into .vscode/mcp.json, or the file that "MCP: Open User Configuration" opens',
      }
    case 'codex':
      return { text: toml(entry), where: 'add to ~/.codex/config.toml' }
    case 'zed':
      return {
        text: json({ context_servers: { [name]: { source: 'custom', ...started(entry) } } }),
        where: 'merge into the settings.json that "zed: open settings" opens',
      }
  }
}

function argumentsOf({ program: [, ...first], peers }: HostEntry): readonly string[] {
  return [...first, 'mcp', ...peers]
}

function started(entry: HostEntry): Readonly<Record<string, unknown>> {
  const env = Object.keys(entry.env).length === 0 ? {} : { env: entry.env }
  return { command: entry.program[0], args: argumentsOf(entry), ...env }
}

function json(value: unknown): string {
  return JSON.stringify(value, undefined, 2)
}

function toml(entry: HostEntry): string {
  const env = Object.entries(entry.env).map(([name, value]) => `${name} = ${JSON.stringify(value)}`)
  return [
    `[mcp_servers.${entry.name}]`,
    `command = ${JSON.stringify(entry.program[0])}`,
    `args = [${argumentsOf(entry)
      .map((text) => JSON.stringify(text))
      .join(', ')}]`,
    ...(env.length === 0 ? [] : [`env = { ${env.join(', ')} }`]),
  ].join('\n')
}

/**
 * What starts this program again. The copy that npx keeps for a while may be gone by then, so npx is asked for it anew.
 *
 * @param script the file that runs
 */
export function programAgain(node: string, script: string): Program {
  return /[\\/]_npx[\\/]/.test(script) ? ['npx', '-y', 'ct-agent'] : [node, script]
}

/** For a shell of the common kind. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}
