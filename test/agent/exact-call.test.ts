import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { formatTicket, listen } from '../../src/channel/index.ts'
import { toHex } from '../../src/core/bytes.ts'
import { type Env } from '../../src/core/env.ts'
import { CtError } from '../../src/core/errors.ts'
import { parseExactJson, toJsonValue } from '../../src/core/exact-json.ts'
import { generateInstanceId, holderKey, noiseKey, SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { createCallLedger, createToolRegistry, serveMcp } from '../../src/mcp/index.ts'
import { type Tool } from '../../src/mcp/tool.ts'
import { silentLog } from '../silent-log.ts'
import { runLine } from './fake-io.ts'

const U64_MAX = '18446744073709551615'
const closers: (() => unknown)[] = []

afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

const echo: Tool = {
  name: 'echo',
  description: 'gives back what it gets',
  inputSchema: {
    type: 'object',
    properties: { units: { type: 'integer', maximum: toJsonValue(parseExactJson(U64_MAX, 'maximum')) } },
  },
  idempotent: true,
  call: (_, { argumentsText }) => toJsonValue(parseExactJson(argumentsText, 'arguments')),
}

/** Variables of a member that may call `echo`. */
async function serveEcho(): Promise<Env> {
  const server = { holder: SecretKey.generate(), noise: SecretKey.generate() }
  const caller = { holder: SecretKey.generate(), noise: SecretKey.generate() }
  const ledger = createCallLedger(systemClock)
  const listener = await listen({
    self: {
      holder: holderKey(server.holder),
      noise: noiseKey(server.noise),
      run: generateInstanceId(),
      agent: 'test/0',
      mode: 'serve',
      limits: { messageBytes: 65_536, inFlight: 1, idleSeconds: 0 },
    },
    listen: [{ host: '127.0.0.1', port: 0 }],
    trust: { holders: new Set([holderKey(caller.holder).id]) },
    maxSessions: 1,
    onSession: (session) => {
      serveMcp(session, {
        registry: createToolRegistry([echo]),
        ledger,
        log: silentLog,
        serverInfo: { name: 'test', version: '0' },
        randomId: generateInstanceId,
      })
    },
    clock: systemClock,
    log: silentLog,
  })
  const stateDir = mkdtempSync(join(tmpdir(), 'ct-agent-exact-'))
  closers.push(
    () => listener.close(new CtError('ERR_PEER_SHUTDOWN', 'the test is over')),
    () => rmSync(stateDir, { recursive: true }),
  )
  return {
    CT_TICKET: formatTicket({ holder: holderKey(server.holder).id, addresses: listener.addresses }),
    CT_CHANNEL_HOLDER_KEY: toHex(caller.holder.reveal()),
    CT_CHANNEL_NOISE_KEY: toHex(caller.noise.reveal()),
    CT_AGENT_STATE_DIR: stateDir,
  }
}

const lines: readonly { name: string; argv: readonly string[]; stdout: string }[] = [
  {
    name: 'call, there and back',
    argv: ['call', 'echo', `{ "units": ${U64_MAX}, "list": [-${U64_MAX}] }`],
    stdout: `{"units":${U64_MAX},"list":[-${U64_MAX}]}\n`,
  },
  {
    name: 'call --json',
    argv: ['call', '--json', 'echo', `{"output":"a b","units":${U64_MAX}}`],
    stdout: `{"output":"a b","units":${U64_MAX}}\n`,
  },
  { name: 'call of a service, as bare text', argv: ['call', 'echo', '{"output":"a b"}'], stdout: 'a b\n' },
  {
    name: 'call --json of a service',
    argv: ['call', '--json', 'echo', '{"output":"a b"}'],
    stdout: '{"output":"a b"}\n',
  },
  {
    name: 'tools --json',
    argv: ['tools', '--json'],
    stdout: `[{"description":"gives back what it gets","inputSchema":{"type":"object","properties":{"units":{"type":"integer","maximum":${U64_MAX}}}},"name":"echo"}]\n`,
  },
]

describe('ct-agent, for integers beyond 2^53', () => {
  for (const { name, argv, stdout } of lines) {
    it(`prints them to the digit: ${name}`, async () => {
      const env = await serveEcho()
      expect(await runLine(argv, env)).toEqual({ status: 0, stdout, stderr: '' })
    })
  }

  for (const text of [U64_MAX, '[1]', '"x"', 'null', '{"a":1e400}', '{"a":']) {
    it(`refuses ${text} as arguments`, async () => {
      expect(await runLine(['call', 'echo', text], await serveEcho())).toMatchObject({ status: 2, stdout: '' })
    })
  }
})
