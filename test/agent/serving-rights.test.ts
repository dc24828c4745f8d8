import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { createServing } from '../../src/agent/serving/serving.ts'
import { planServing } from '../../src/agent/serving/serving-plan.ts'
import { type Rights } from '../../src/core/rights.ts'
import { systemClock } from '../../src/core/time.ts'
import { createMcpClient } from '../../src/mcp/calling/client.ts'
import { closeAll, closing, member, open, serve } from '../channel/members.ts'
import { chainOf, credentialsOf, showing, TRUST } from '../channel/test-channel.ts'
import { silentLog } from '../silent-log.ts'
import { fakeIo } from './fake-io.ts'

afterEach(closeAll)

/** What a member with these rights gets from an agent that serves a channel. */
async function callAs(rights: Rights) {
  const self = showing(member('serve'))
  const stateDir = await mkdtemp(join(tmpdir(), 'ct-agent-'))
  closing(() => rm(stateDir, { recursive: true }))
  const { io } = fakeIo()
  const deps = { io, env: {}, stateDir, holder: self.holder, clock: systemClock, log: silentLog }
  const serving = await createServing(planServing({}, []), deps)
  closing(() => serving.close())
  const { address } = await serve({ self, trust: { channel: TRUST }, onSession: serving.attach })
  const caller = member('call')
  const credentials = credentialsOf(caller, chainOf({ holder: caller.holder, rights }))
  const session = await open(showing(caller, credentials), { addresses: [address], trust: { channel: TRUST } })
  await session.ready
  const client = createMcpClient(session, { clock: systemClock, log: silentLog })
  const options = { timeoutMs: 10_000 }
  return {
    list: await client.request('tools/list', {}, options),
    ping: await client.request('tools/call', { name: 'ping' }, options),
  }
}

describe('an agent that serves a channel', () => {
  it('gives a member what its grant says', async () => {
    const { list, ping } = await callAs('r')
    expect(list).toMatchObject({ result: { tools: [{ name: 'ping' }] } })
    expect(ping).toMatchObject({ result: { reply: 'pong' } })
  })

  it('gives a member nothing else', async () => {
    const { list, ping } = await callAs('w')
    expect(list).toMatchObject({ error: { code: 'ERR_RIGHTS_MISSING', message: /right r/ } })
    expect(ping).toMatchObject({ error: { code: 'ERR_RIGHTS_MISSING', message: /right r/ } })
  })
})
