import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { formatTicket } from '../../src/channel/index.ts'
import { toHex } from '../../src/core/bytes.ts'
import { type Env } from '../../src/core/env.ts'
import { parseExactJson, toJsonValue } from '../../src/core/exact-json.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { type Tool } from '../../src/mcp/tool.ts'
import { listenAs, servingTools } from '../e2e/own-member.ts'
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
  const listener = await listenAs(server, caller, servingTools([echo]), (close) => closers.push(close))
  const stateDir = mkdtempSync(join(tmpdir(), 'ct-agent-exact-'))
  closers.push(() => rmSync(stateDir, { recursive: true }))
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
