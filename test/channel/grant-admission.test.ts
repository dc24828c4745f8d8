import { afterEach, describe, expect, it } from 'vitest'
import { type Target } from '../../src/channel/dialling/opening.ts'
import { type SelfDescription } from '../../src/channel/session/self.ts'
import { CtError } from '../../src/core/errors.ts'
import { SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { U64_MAX, unixSeconds } from '../../src/core/u64.ts'
import { createMcpClient } from '../../src/mcp/calling/client.ts'
import { createCallLedger } from '../../src/mcp/serving/call-ledger.ts'
import { serveMcp } from '../../src/mcp/serving/server.ts'
import { createToolRegistry } from '../../src/mcp/tool.ts'
import { deferred, toolOf } from '../mcp/serve.ts'
import { silentLog } from '../silent-log.ts'
import { closeAll, dialler, exchange, holders, member, noiseKeys, open, type Serving, serve } from './members.ts'
import { ALICE, BAD_CREDENTIALS, chainOf, credentialsOf, MALFORMED, showing, TRUST } from './test-channel.ts'

afterEach(closeAll)

const CHANNEL_TRUST = { channel: TRUST } as const

/** How to reach the serving member by the channel alone. */
function targetOf({ address }: Serving, more: Partial<Target['trust']> = {}): Target {
  return { addresses: [address], trust: { ...CHANNEL_TRUST, ...more } }
}

/** A serving member that admits members. */
function serveMembers(trust: Partial<Parameters<typeof serve>[0]['trust']> = {}): Promise<Serving> {
  return serve({ self: showing(member('serve')), trust: { ...CHANNEL_TRUST, ...trust } })
}

function withGrant(self: SelfDescription, grant: Parameters<typeof chainOf>[number] | object = {}): SelfDescription {
  return showing(self, credentialsOf(self, chainOf({ holder: self.holder, ...grant })))
}

describe('members of a channel', () => {
  it('admit each other by their grants alone, and know the membership of the other', async () => {
    const serving = await serveMembers()
    const self = withGrant(member('call'), { direction: 'initiate', rights: 'r' })
    const taken = serving.next()
    const session = await open(self, targetOf(serving))
    await session.ready
    expect(await exchange(session, await taken, 'to the server')).toBe('to the server')
    expect(await exchange(await taken, session, 'to the caller')).toBe('to the caller')
    expect((await taken).peer).toEqual({
      holder: self.holder.id,
      run: expect.any(String),
      membership: { rights: 'r', expiresAt: U64_MAX, chain: [self.holder.id] },
    })
    expect(session.peer.membership).toEqual({ rights: 'rw', expiresAt: U64_MAX, chain: [serving.self.holder.id] })
  })

  it('admit each other through grants that were passed on', async () => {
    const serving = await serveMembers()
    const self = member('call')
    const grants = chainOf({ holder: ALICE }, { holder: self.holder, rights: 'w' })
    const session = await open(showing(self, credentialsOf(self, grants)), targetOf(serving))
    await session.ready
    expect(serving.sessions[0]?.peer.membership).toMatchObject({ rights: 'w', chain: [ALICE.id, self.holder.id] })
  })

  it('may pin keys as well, and every rule must be met', async () => {
    const [self, stranger] = [showing(member('call')), member('call')]
    const serving = await serveMembers({ ...holders(self), ...noiseKeys(self) })
    await (await open(self, targetOf(serving, holders(serving.self)))).ready
    const unpinned = await open(showing(member('call')), targetOf(serving))
    await expect(unpinned.ready).rejects.toMatchObject({ code: 'ERR_PEER_REFUSED' })
    const ungranted = await open({ ...self, credentials: () => credentialsOf(stranger) }, targetOf(serving))
    await expect(ungranted.ready).rejects.toMatchObject({ code: 'ERR_GRANT_INVALID' })
    const elsewhere = open(self, targetOf(serving, holders(stranger)))
    await expect(elsewhere).rejects.toMatchObject({ code: 'ERR_PEER_KEY_MISMATCH' })
  })

  it('are not made by a ticket', async () => {
    const ticketSecret = SecretKey.generate()
    const serving = await serveMembers({ ticketSecret })
    const caller = await open(member('call'), { ...targetOf(serving), ticketSecret })
    await expect(caller.ready).rejects.toMatchObject({ code: 'ERR_GRANT_INVALID' })
    await (await open(showing(member('call')), { ...targetOf(serving), ticketSecret })).ready
  })

  it('show credentials also to those who ask for none', async () => {
    const self = showing(member('call'))
    const serving = await serve({ self: showing(member('serve')), trust: holders(self) })
    const session = await open(self, { addresses: [serving.address], trust: holders(serving.self) })
    await session.ready
    expect([session.peer.membership, serving.sessions[0]?.peer.membership]).toEqual([undefined, undefined])
  })

  it('who were removed are refused, and so are those whose grants rest on theirs', async () => {
    const removed = new Set<string>()
    const serving = await serve({
      self: showing(member('serve')),
      trust: { channel: { ...TRUST, isRevoked: (holder) => removed.has(holder) } },
    })
    const self = member('call')
    const behind = showing(self, credentialsOf(self, chainOf({ holder: ALICE }, { holder: self.holder })))
    await (await open(behind, targetOf(serving))).ready
    removed.add(ALICE.id)
    const refused = await open(behind, targetOf(serving))
    await expect(refused.ready).rejects.toMatchObject({
      code: 'ERR_MEMBER_REMOVED',
      detail: { byPeer: true, category: 'not-member' },
    })
    await (await open(showing(self), targetOf(serving))).ready
  })

  it('pipe only with both rights', async () => {
    const serving = await serve({ self: showing(member('pipe')), trust: CHANNEL_TRUST })
    const reader = await open(withGrant(member('pipe'), { rights: 'r' }), targetOf(serving))
    await expect(reader.ready).rejects.toMatchObject({ code: 'ERR_RIGHTS_MISSING' })
    await (await open(showing(member('pipe')), targetOf(serving))).ready
  })
})

describe('a caller', () => {
  it('without credentials is refused by the server', async () => {
    const serving = await serveMembers()
    const session = await open(member('call'), targetOf(serving))
    await expect(session.ready).rejects.toMatchObject({
      code: 'ERR_GRANT_INVALID',
      message: /^\[not-member\] member .*none was shown/,
      detail: { byPeer: true, category: 'not-member' },
    })
    expect((await session.closed).final).toBe(true)
    expect(serving.sessions).toEqual([])
  })

  it('is refused by the server with a code, a reason and a category, and nothing else is', async () => {
    const serving = await serveMembers()
    const now = unixSeconds(systemClock)
    for (const { name, make, code, category } of [...BAD_CREDENTIALS, ...MALFORMED]) {
      const self = member('call')
      const session = await open({ ...self, credentials: () => make(self, 'initiate', now) }, targetOf(serving))
      await expect(session.ready, name).rejects.toMatchObject({ code, detail: { byPeer: true, category } })
      expect((await session.closed).reason.message, name).toMatch(new RegExp(`^\\[${category}\\] `))
    }
    expect(serving.sessions).toEqual([])
    await (await open(showing(member('call')), targetOf(serving))).ready
  })
})

describe('a server', () => {
  /** What the caller makes of a server that would serve anybody, and what the server got of it. */
  async function callAt(self: SelfDescription) {
    const caller = showing(member('call'))
    const serving = await serve({ self, trust: holders(caller) })
    const texts: string[] = []
    const session = await open(caller, targetOf(serving))
    const early = session.send({ text: '"a secret"' })
    const outcome = session.ready.then(
      () => undefined,
      (error: unknown) => error,
    )
    const sent = await early.then(
      () => 'sent',
      (error: unknown) => error,
    )
    for (const taken of serving.sessions) {
      taken.receive((message) => texts.push(message.kind))
      await taken.closed
    }
    return { outcome: await outcome, sent, texts }
  }

  it('without credentials gets no message, and learns why', async () => {
    const { outcome, sent, texts } = await callAt(member('serve'))
    expect(outcome).toMatchObject({ code: 'ERR_GRANT_INVALID', detail: { category: 'not-member' } })
    expect(sent).toBe(outcome)
    expect(texts).toEqual([])
  })

  it('with wrong ones gets no message', async () => {
    const now = unixSeconds(systemClock)
    for (const { name, make, code, category } of BAD_CREDENTIALS) {
      const self = member('serve')
      const { outcome, sent, texts } = await callAt({ ...self, credentials: () => make(self, 'accept', now) })
      expect(outcome, name).toMatchObject({ code, detail: { category } })
      expect(sent, name).toBe(outcome)
      expect(texts, name).toEqual([])
      await closeAll()
    }
  })

  it('that is a member gets what was sent before it was known, in order', async () => {
    const serving = await serveMembers()
    const taken = serving.next()
    const session = await open(showing(member('call')), targetOf(serving))
    const sending = ['1', '2', '3'].map((text) => session.send({ text }))
    const texts: string[] = []
    const three = deferred<void>()
    ;(await taken).receive((message) => {
      texts.push(message.kind === 'text' ? Buffer.from(message.bytes).toString() : message.kind)
      if (texts.length === 3) three.resolve()
    })
    await Promise.all([...sending, three.promise])
    expect(texts).toEqual(['1', '2', '3'])
  })
})

describe('a member that is removed', () => {
  const REMOVED = new CtError('ERR_MEMBER_REMOVED', 'the operator removed this member')

  it('is out at once, with the calls that run, and others stay', async () => {
    const serving = await serveMembers()
    const begun = deferred<AbortSignal>()
    const ledger = createCallLedger(systemClock)
    const hang = toolOf('hang', (_, { signal }) => {
      begun.resolve(signal)
      return new Promise(() => {})
    })
    const taken = serving.next()
    const session = await open(showing(member('call')), targetOf(serving))
    const served = await taken
    serveMcp(served, {
      registry: createToolRegistry([hang]),
      ledger,
      log: silentLog,
      serverInfo: { name: 'test', version: '1' },
      randomId: () => 'id',
    })
    const bystander = await open(showing(member('call')), targetOf(serving))
    await bystander.ready
    const client = createMcpClient(session, { clock: systemClock, log: silentLog })
    const call = client.request('tools/call', { name: 'hang' }, { timeoutMs: 10_000 })
    const signal = await begun.promise
    serving.listener.expel(served.peer.holder, REMOVED)
    await expect(call).rejects.toBeInstanceOf(CtError)
    expect((await session.closed).reason).toMatchObject({ code: 'ERR_MEMBER_REMOVED', detail: { byPeer: true } })
    expect((await session.closed).final).toBe(true)
    await served.closed
    expect(signal.aborted).toBe(true)
    expect(bystander.isReady && serving.listener.sessions).toBe(1)
  })

  it('takes along those whose grants rest on it, on the side that dials too', async () => {
    const server = member('serve')
    const behind = showing(server, credentialsOf(server, chainOf({ holder: ALICE }, { holder: server.holder })))
    const serving = await serve({ self: behind, trust: CHANNEL_TRUST })
    const calling = await dialler(showing(member('call')))
    const session = await calling.open(targetOf(serving), AbortSignal.timeout(10_000))
    await session.ready
    calling.expel(member('serve').holder.id, REMOVED)
    expect(await exchange(session, await taken(serving), 'still there')).toBe('still there')
    calling.expel(ALICE.id, REMOVED)
    expect((await session.closed).reason).toBe(REMOVED)
    expect((await (await taken(serving)).closed).reason).toMatchObject({ code: 'ERR_MEMBER_REMOVED' })
  })
})

/** The first session that was handed over. */
async function taken(serving: Serving) {
  return serving.sessions[0] ?? serving.next()
}
