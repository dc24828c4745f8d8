import { Client as ModernClient } from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { describe, expect } from 'vitest'
import { parseAddress } from '../../src/channel/address.ts'
import { type Session } from '../../src/channel/index.ts'
import { noiseKey } from '../../src/core/keys.ts'
import { Members, makeKeys, serving } from './members.ts'
import { dialAs } from './own-member.ts'
import { targetOf } from './peer.ts'
import { SessionTransport } from './session-transport.ts'
import { it, SLOW, stateOf } from './stage.ts'

const INFO = { name: 'test', version: '0' }

const clients: readonly { name: string; create: () => Client | ModernClient }[] = [
  { name: 'SDK v1', create: () => new Client(INFO) },
  { name: 'SDK v2, legacy', create: () => new ModernClient(INFO) },
  { name: 'SDK v2, choosing itself', create: () => new ModernClient(INFO, { versionNegotiation: { mode: 'auto' } }) },
  {
    name: 'SDK v2, modern only',
    create: () => new ModernClient(INFO, { versionNegotiation: { mode: { pin: '2026-07-28' } } }),
  },
]

async function exercise(client: Client | ModernClient, session: Session): Promise<void> {
  const errors: Error[] = []
  client.onerror = (error) => errors.push(error)
  await client.connect(new SessionTransport(session))
  const { tools } = await client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(['ping', 'service/echo'])
  expect(tools.every(({ inputSchema }) => inputSchema.type === 'object')).toBe(true)
  expect(await client.callTool({ name: 'ping' })).toMatchObject({ structuredContent: { reply: 'pong' } })
  const echo = (input: string) => client.callTool({ name: 'service/echo', arguments: { input } })
  expect(await echo('hello')).toMatchObject({
    content: [{ type: 'text' }],
    structuredContent: { output: 'HELLO' },
  })
  expect(await echo('bad')).toMatchObject({ isError: true })
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, index) => client.callTool({ name: 'ping', arguments: { index } })),
  )
  expect(many.every(({ isError }) => isError !== true)).toBe(true)
  await expect(client.callTool({ name: 'nope' })).rejects.toThrow(/unknown tool `nope`/)
  await client.close()
  expect(errors).toEqual([])
}

const HANDLER = 'read -r line; [ "$line" = bad ] && exit 3; echo "$line" | tr a-z A-Z'

describe.concurrent('a real agent, called by the official clients', SLOW, () => {
  for (const { name, create } of clients) {
    it(`through ct-agent channel, lists and calls for ${name} (W6)`, async ({ stage }) => {
      const members = new Members(stage)
      const { address } = await members.accept(serving(HANDLER))
      const parsed = parseAddress(address)
      if ('problem' in parsed) throw new TypeError(parsed.problem)
      const session = await dialAs(
        members.caller,
        { addresses: [parsed.value], trust: { noiseKeys: new Set([noiseKey(members.server.noise).id]) } },
        (close) => stage.onClose(close),
      )
      await exercise(create(), session)
    })

    it(`through ct-agent serve, lists and calls for ${name} (W6)`, async ({ stage }) => {
      const server = stage.start(['serve', '--listen', '127.0.0.1:0', '--handler', HANDLER, '--services', 'echo'], {
        env: stateOf(stage, 'server'),
      })
      const session = await dialAs(makeKeys(), targetOf(await server.line()), (close) => stage.onClose(close))
      await exercise(create(), session)
    })
  }
})
