import { afterEach, describe, expect, it } from 'vitest'
import { type TrustPolicy } from '../../src/channel/admission.ts'
import { type Target } from '../../src/channel/dialling/opening.ts'
import { type SelfDescription } from '../../src/channel/session/self.ts'
import { SecretKey } from '../../src/core/keys.ts'
import { closeAll, dialler, exchange, holders, member, noiseKeys, open, serve } from './members.ts'

afterEach(closeAll)

interface Row {
  readonly name: string
  /** What the server trusts, given caller and stranger. */
  readonly server: (caller: SelfDescription, stranger: SelfDescription) => TrustPolicy
  /** What the caller expects, given server and stranger. */
  readonly caller: (server: SelfDescription, stranger: SelfDescription) => Target['trust']
}

const admitted: readonly Row[] = [
  { name: 'holder keys', server: (caller) => holders(caller), caller: (server) => holders(server) },
  { name: 'Noise keys', server: (caller) => noiseKeys(caller), caller: (server) => noiseKeys(server) },
  {
    name: 'both keys',
    server: (caller) => ({ ...holders(caller), ...noiseKeys(caller) }),
    caller: (server) => ({ ...holders(server), ...noiseKeys(server) }),
  },
  {
    name: 'one of several keys',
    server: (caller, stranger) => ({ ...holders(stranger, caller), ...noiseKeys(caller, stranger) }),
    caller: (server, stranger) => ({ ...holders(stranger, server), ...noiseKeys(server, stranger) }),
  },
  { name: 'different kinds of keys', server: (caller) => noiseKeys(caller), caller: (server) => holders(server) },
]

const refusedByServer: readonly Row[] = [
  { name: 'no rule at all', server: () => ({}), caller: (server) => holders(server) },
  { name: 'another holder key', server: (_, stranger) => holders(stranger), caller: (server) => holders(server) },
  { name: 'another Noise key', server: (_, stranger) => noiseKeys(stranger), caller: (server) => holders(server) },
  {
    name: 'the right holder key and another Noise key',
    server: (caller, stranger) => ({ ...holders(caller), ...noiseKeys(stranger) }),
    caller: (server) => holders(server),
  },
  {
    name: 'the right Noise key and another holder key',
    server: (caller, stranger) => ({ ...holders(stranger), ...noiseKeys(caller) }),
    caller: (server) => noiseKeys(server),
  },
]

const refusedByCaller: readonly Row[] = [
  { name: 'another holder key', server: (caller) => holders(caller), caller: (_, stranger) => holders(stranger) },
  {
    name: 'two other holder keys',
    server: (caller) => holders(caller),
    caller: (_, stranger) => holders(stranger, member('serve')),
  },
  { name: 'another Noise key', server: (caller) => holders(caller), caller: (_, stranger) => noiseKeys(stranger) },
  {
    name: 'the right holder key and another Noise key',
    server: (caller) => holders(caller),
    caller: (server, stranger) => ({ ...holders(server), ...noiseKeys(stranger) }),
  },
  {
    name: 'the right Noise key and another holder key',
    server: (caller) => holders(caller),
    caller: (server, stranger) => ({ ...holders(stranger), ...noiseKeys(server) }),
  },
]

async function meet({ server, caller }: Row) {
  const [self, stranger] = [member('call'), member('serve')]
  const serving = await serve({ trust: { ...server(self, stranger) } })
  const target: Target = { addresses: [serving.address], trust: caller(serving.self, stranger) }
  return { self, stranger, serving, target }
}

describe('keys on both sides', () => {
  for (const row of admitted) {
    it(`admit with ${row.name} pinned`, async () => {
      const { self, serving, target } = await meet(row)
      const taken = serving.next()
      const session = await open(self, target)
      await session.ready
      expect(await exchange(session, await taken, 'to the server')).toBe('to the server')
      expect(await exchange(await taken, session, 'to the caller')).toBe('to the caller')
      expect([session.peer.holder, (await taken).peer.holder]).toEqual([serving.self.holder.id, self.holder.id])
    })
  }

  for (const row of refusedByServer) {
    it(`are refused by the server with a code and a reason, which serves on: ${row.name} (W22)`, async () => {
      const { self, serving, target } = await meet(row)
      const session = await open(self, target)
      await expect(session.ready).rejects.toMatchObject({ code: 'ERR_PEER_REFUSED', detail: { byPeer: true } })
      const { reason, final } = await session.closed
      expect(reason.message).toMatch(/trust/)
      expect(final).toBe(true)
      expect(serving.sessions).toEqual([])
    })
  }

  for (const row of refusedByCaller) {
    it(`are refused by the caller, and the server serves on: ${row.name} (W22)`, async () => {
      const { self, serving, target } = await meet(row)
      const calling = await dialler(self)
      const signal = AbortSignal.timeout(10_000)
      await expect(calling.open(target, signal)).rejects.toMatchObject({ code: 'ERR_PEER_KEY_MISMATCH' })
      const taken = serving.next()
      const session = await calling.open({ ...target, trust: holders(serving.self) }, signal)
      await session.ready
      expect(await exchange(session, await taken, 'still there')).toBe('still there')
      expect(serving.sessions).toHaveLength(1)
    })
  }

  it('are asked for: a caller that expects no key at all is a mistake', async () => {
    const serving = await serve({ trust: {} })
    const calling = await dialler(member('call'))
    const target = { addresses: [serving.address], trust: {} }
    await expect(calling.open(target, AbortSignal.timeout(10_000))).rejects.toThrow(TypeError)
  })
})

describe('a ticket', () => {
  const secret = SecretKey.generate()

  it('admits whoever proves it, and nobody else', async () => {
    const serving = await serve({ trust: { ticketSecret: secret } })
    const target = { addresses: [serving.address], trust: holders(serving.self) }
    await (await open(member('call'), { ...target, ticketSecret: secret })).ready
    const without = await open(member('call'), target)
    await expect(without.ready).rejects.toMatchObject({ code: 'ERR_PEER_REFUSED', message: /none was shown/ })
    const old = await open(member('call'), { ...target, ticketSecret: SecretKey.generate() })
    await expect(old.ready).rejects.toMatchObject({ code: 'ERR_PEER_REFUSED', message: /no longer/ })
  })
})

describe('several addresses', () => {
  it('are tried in turn: a stranger at the first does not hide the peer at the second (W22)', async () => {
    const self = member('call')
    const stranger = await serve({ trust: holders(self) })
    const serving = await serve({ trust: holders(self) })
    for (const trust of [holders(serving.self), noiseKeys(serving.self)]) {
      const session = await open(self, { addresses: [stranger.address, serving.address], trust })
      await session.ready
      expect(session.peer.holder).toBe(serving.self.holder.id)
    }
    expect(stranger.sessions).toEqual([])
  })

  it('leave room for the right peer to come back while one does not answer', async () => {
    const self = member('call')
    const stranger = await serve({ trust: holders(self) })
    const addresses = [stranger.address, { host: '127.0.0.1', port: 1 }]
    const opening = open(self, { addresses, trust: holders(member('serve')) })
    await expect(opening).rejects.toMatchObject({ code: 'ERR_PEER_UNREACHABLE', message: /another key.*refused/ })
  })
})

describe('parallel dials', () => {
  it('give every caller a session of its own, each checked against its own handshake', async () => {
    const self = member('call')
    const serving = await serve({ trust: holders(self), maxSessions: 200 })
    const calling = await dialler(self)
    const target = { addresses: [serving.address], trust: noiseKeys(serving.self) }
    const opening = Array.from({ length: 20 }, () => calling.open(target, AbortSignal.timeout(10_000)))
    const sessions = await Promise.all(opening)
    await Promise.all(sessions.map((session) => session.ready))
    expect(new Set(sessions).size).toBe(20)
    expect(serving.listener.sessions).toBe(20)
  })
})
