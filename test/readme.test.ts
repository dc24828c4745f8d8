import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { env } from 'node:process'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const channels = readFileSync(join(root, 'docs/channels.md'), 'utf8')
const members = readFileSync(join(root, 'docs/members.md'), 'utf8').replace('# Members', '## Members')

/** Code blocks of one language below a heading of README, or of another document. */
function blocks(heading: string, language: string, document = readme): readonly string[] {
  const section = document.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? ''
  return [...section.matchAll(new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 'gs'))].map(([, body]) => body ?? '')
}

describe('README', () => {
  let folder: string
  const running = new Set<ChildProcess>()

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'ct-agent-readme-'))
  })

  afterEach(async () => {
    await Promise.all([...running].map(stop))
    rmSync(folder, { recursive: true, force: true })
  })

  /** Starts a shell script in the repository, as somebody who pastes it would. */
  function start(script: string, more: Readonly<Record<string, string>> = {}) {
    const child = spawn('bash', ['-c', more['NPX'] === 'real' ? script : `${QUICK_NPX}\n${script}`], {
      cwd: root,
      detached: true,
      env: { ...cleanEnvironment(), CT_AGENT_STATE_DIR: join(folder, 'state'), ...more },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    running.add(child)
    child.once('close', () => running.delete(child))
    return child
  }

  async function finish(script: string, more: Readonly<Record<string, string>> = {}): Promise<string> {
    const child = start(script, more)
    let [output, errors] = ['', '']
    child.stdout.on('data', (chunk) => {
      output += String(chunk)
    })
    child.stderr.on('data', (chunk) => {
      errors += String(chunk)
    })
    const status = await new Promise((resolve) => child.once('close', resolve))
    expect(status, errors).toBe(0)
    return output
  }

  it('shows the main job with the command it names', async () => {
    const [command = ''] = blocks('See it work', 'sh')
    expect(command.trim()).toBe('npm ci && npm start')
    const output = await finish('npm start')
    expect(output).toMatch(/ping +liveness check → returns pong/)
    expect(output).toContain('{"reply":"pong"}')
    expect(output).toContain('Your turn: ct-agent serve')
  }, 60_000)

  it('serves, lists and calls exactly as shown', async () => {
    const [serve = '', call = ''] = blocks('Serve a tool and call it', 'sh')
    const [shown] = blocks('Serve a tool and call it', 'text')
    const ticket = await firstLine(start(serve, { NPX: 'real' }))
    expect(await finish(call, { CT_TICKET: ticket, NPX: 'real' })).toBe(shown)
  }, 60_000)

  it('sells, buys and gets a receipt exactly as shown', async () => {
    const [serve = '', buy = ''] = blocks('Sell and buy capacity', 'sh')
    const ticket = await firstLine(start(serve))
    const here = buy.replace(/purchase|receipt\.json/g, (name) => join(folder, name))
    // On one machine both have the same state folder.
    const output = await finish(here, { CT_TICKET: ticket })
    expect(output).toMatch(/^bought +10 units of wc for 60 credits\n2\n/m)
    expect(output).toMatch(/valid {2}.*units=1 /)
  }, 60_000)

  it('serves, calls, invites and removes through a broker as shown', async () => {
    const [script = '', people = ''] = blocks('Through a broker', 'sh')
    const [broker = '', serve = '', call = ''] = script.split('\n')
    const [alice, caller] = [join(folder, 'alice'), join(folder, 'caller')]
    const address = await firstLine(start(broker, { CT_AGENT_STATE_DIR: join(folder, 'broker') }))
    const ticket = await firstLine(start(serve, { BROKER: address }))
    expect(await finish(call, { CT_TICKET: ticket, CT_AGENT_STATE_DIR: caller })).toBe('6\n')
    for (const [document, last] of [
      [people, /^service\/word_count /m],
      [(blocks('Members', 'sh', members)[0] ?? '').replaceAll('alice', 'alicia'), /^6$/m],
    ] as const) {
      const [invite = '', joining = '', use = '', ...beside] = document.trim().split('\n')
      const invitation = await finish(invite)
      const env = { CT_TICKET: invitation.trim(), CT_AGENT_STATE_DIR: `${alice}-${document.length}` }
      expect(await finish(`${joining}\n${use}`, env)).toMatch(last)
      expect(await finish(beside.join('\n'))).toMatch(/^removed ali/m)
    }
    const [configure = ''] = blocks('From an MCP host', 'sh')
    expect(readFileSync(join(root, 'docs/mcp-hosts.md'), 'utf8')).toContain(configure)
    const block: unknown = JSON.parse(await finish(configure, { CT_AGENT_STATE_DIR: `${alice}-${people.length}` }))
    expect(block).toMatchObject({ mcpServers: { bob: { args: [expect.stringContaining('ct-agent'), 'mcp', 'bob'] } } })
    const [watch = ''] = blocks('Watching', 'sh', members)
    expect(await finish(watch)).toMatch(/word_count|serve/)
  }, 60_000)

  it('joins a direct channel by variables as shown', async () => {
    const [script = ''] = blocks('Direct', 'sh', channels)
    const [init = '', exports = '', accept = '', initiate = ''] = script.split('\n')
    const here = exports.replace('4433', String(await freePort()))
    // What eval takes over on each side, and what the sides tell each other.
    const print = init.replace(/^eval "\$\((.*)\)".*/, '$1')
    const [server = '', caller = ''] = [await finish(print), await finish(print)]
    const serving = start([server, here, accept].join('\n'), { PEER_KEY: noiseKeyIn(caller) })
    await said(serving.stderr, 'listening on')
    const output = await finish([caller, here, initiate].join('\n'), { PEER_KEY: noiseKeyIn(server) })
    expect(output).toBe(
      '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"description":"liveness check → returns pong","name":"ping"}]}}\n',
    )
  }, 60_000)

  it('joins a channel through a broker by variables as shown', async () => {
    const [broker = '', operate = '', join_ = ''] = blocks('Through a broker', 'sh', channels)
    const address = await firstLine(start(broker, { CT_AGENT_STATE_DIR: join(folder, 'broker') }))
    const [acceptor, initiator] = [await finish(MAKE_KEYS), await finish(MAKE_KEYS)]
    const operator = await finish('npx ct-agent channel operator-init')
    const signed = await finish(operate.replace(/^eval.*$/m, operator), {
      CHANNEL: 'ab'.repeat(32),
      ACCEPTOR: holderKeyIn(acceptor),
      INITIATOR: holderKeyIn(initiator),
    })
    const [acceptGrant = '', initiateGrant = ''] = signed.trim().split('\n')
    const [exports = '', accept = '', initiate = ''] = join_.split('\n')
    const common = { BROKER: address, OPERATOR: /operator_pubkey = ([0-9a-f]{64})/.exec(operator)?.[1] ?? '' }
    const serving = start([acceptor, exports, accept].join('\n'), { ...common, GRANT: acceptGrant })
    await said(serving.stderr, 'reachable through the relay')
    const output = await finish([initiator, exports, initiate].join('\n'), { ...common, GRANT: initiateGrant })
    expect(output).toContain('"name":"ping"')
  }, 60_000)
})

/** What npx would find here, without the second that npx itself takes for each of many commands. */
const QUICK_NPX = 'npx() { shift; node_modules/.bin/node dist/ct-agent.js "$@"; }'

const MAKE_KEYS = 'npx ct-agent channel init'

function holderKeyIn(initOutput: string): string {
  return /holder_pubkey = ([0-9a-f]{64})/.exec(initOutput)?.[1] ?? ''
}

/** Nothing of a surrounding agent, test run or npm script; the program's own Node first, as in an npm script. */
function cleanEnvironment(): Readonly<Record<string, string>> {
  const kept = Object.entries(env).filter(([name]) => !/^(CT_|npm_|VITEST|NODE_)/.test(name))
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']))
}

function noiseKeyIn(initOutput: string): string {
  return /noise_pubkey {2}= ([0-9a-f]{64})/.exec(initOutput)?.[1] ?? ''
}

/** Resolves when the stream has said the words; rejects when it ended without. */
async function said(stream: AsyncIterable<unknown>, words: string): Promise<string> {
  let text = ''
  for await (const chunk of stream) {
    text += String(chunk)
    if (text.includes(words)) return text
  }
  throw new Error(`expected ${JSON.stringify(words)}, found ${JSON.stringify(text)}`)
}

async function firstLine({ stdout }: { readonly stdout: AsyncIterable<unknown> }): Promise<string> {
  return (await said(stdout, '\n')).split('\n')[0] ?? ''
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** Ends the script and everything it started. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null) return
  const closed = new Promise((resolve) => child.once('close', resolve))
  process.kill(-child.pid, 'SIGTERM')
  await closed
}
