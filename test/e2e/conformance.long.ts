/**
 * What others check MCP servers with: the official conformance suite and the Inspector.
 *
 * @module
 */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect } from 'vitest'
import { startGateway } from './gateway.ts'
import { it, PROGRAM, SLOW, type Stage, stateOf } from './stage.ts'

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const require = createRequire(import.meta.url)
const SUITE = join(dirname(require.resolve('@modelcontextprotocol/conformance/package.json')), 'dist/index.js')
const INSPECTOR = join(
  dirname(require.resolve('@modelcontextprotocol/inspector/package.json')),
  'clients/launcher/build/index.js',
)
const SERVER = pathOf('../fixtures/servers/conformance.ts')
const FAILURES = pathOf('conformance.yml')

/** What a program that is not ours says; rejects with all of it when it is not content. */
async function run(stage: Stage, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: stage.folder,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: stage.folder },
    timeout: SLOW.timeout,
  })
  return stdout
}

/** An address of a server, or a command that starts one. */
async function inspect(stage: Stage, server: readonly string[], ...args: readonly string[]): Promise<unknown> {
  const said = await run(stage, [INSPECTOR, '--cli', ...server, '--format', 'json', ...args])
  return (JSON.parse(said) as { result: unknown }).result
}

describe.concurrent('what others check servers with', SLOW, () => {
  it('is content with a server behind serve and gateway, but for what is listed with its reasons', async ({
    stage,
  }) => {
    const env = { CT_AGENT_MCP_SERVER_CMD: `${process.execPath} ${SERVER}` }
    const peer = stage.start(['serve', '--listen', '127.0.0.1:0'], { env: stateOf(stage, 'peer', env) })
    const gateway = stage.start(['gateway', '--addr', '127.0.0.1:0'], {
      env: stateOf(stage, 'gateway', { CT_TICKET: await peer.line() }),
    })
    const asked = [SUITE, 'server', '--suite', 'all', '--url', await gateway.line(), '--expected-failures', FAILURES]
    const said = await run(stage, asked)
    expect(said).toMatch(/✓ tools-call-simple-text: 1 passed/)
    expect(said).toMatch(/✓ dns-rebinding-protection: 2 passed/)
  })

  for (const { how, server } of [
    {
      how: 'over HTTP',
      server: async (stage: Stage) => [(await startGateway(stage)).url, '--transport', 'http'],
    },
    {
      how: 'over stdio',
      server: async (stage: Stage) => {
        const { peer } = await startGateway(stage)
        const env = stateOf(stage, 'host', { CT_TICKET: await peer.line() })
        return [
          process.execPath,
          PROGRAM,
          'mcp',
          ...Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]),
        ]
      },
    },
  ]) {
    it(`shows and calls the tools of a peer ${how}, in the older and the newer way`, async ({ stage }) => {
      const started = await server(stage)
      const list = ['--protocol-era', 'modern', '--strict', '--method', 'tools/list']
      expect(await inspect(stage, started, ...list)).toMatchObject({
        tools: [{ name: 'ping' }, { name: 'service_echo' }],
      })
      const call = ['--method', 'tools/call', '--tool-name', 'service_echo', '--tool-arg', 'input=hi']
      expect(await inspect(stage, started, ...call)).toMatchObject({ structuredContent: { output: 'HI' } })
    })
  }
})
