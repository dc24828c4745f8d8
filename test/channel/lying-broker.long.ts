import { afterEach, describe, expect, it } from 'vitest'
import { type FromBroker, type Join } from '../../src/channel/rendezvous/messages.ts'
import { type SelfDescription } from '../../src/channel/session/self.ts'
import { CtError } from '../../src/core/errors.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { credentialsOf } from './broker/raw-member.ts'
import { accept, call, has, TRUST } from './brokered-members.ts'
import { JOINED, type Lies, startLyingBroker } from './lying-broker.ts'
import { closeAll, exchange, holders, member, open, serve } from './members.ts'

afterEach(closeAll)

/** Tells whoever wants to call that this is the peer, and everybody else that all is well. */
function naming(peer: () => Pick<Extract<FromBroker, { kind: 'peer' }>, 'holder' | 'addresses'>) {
  return ({ side }: Join, say: (message: FromBroker) => void): void => {
    say(JOINED)
    if (side === 'initiate') say({ kind: 'peer', ...peer() })
  }
}

/** A member that can be reached through the relay of this broker alone. */
async function acceptBehind(broker: { readonly ticketLine: string }, self?: SelfDescription) {
  const acceptor = await accept(broker, { relayOnly: true, ...(self === undefined ? {} : { self }) })
  await has(acceptor.states, 'reserved')
  return acceptor
}

async function meeting(lies: (named: () => HolderId) => Lies) {
  let named = ''
  const broker = await startLyingBroker(lies(() => named as HolderId))
  const acceptor = await acceptBehind(broker)
  named = acceptor.self.holder.id
  return { broker, acceptor, caller: await call(broker) }
}

describe('a member whose broker', () => {
  it('says the truth is served, so that the lies below are what is refused', async () => {
    const { acceptor, caller } = await meeting((named) => ({
      onJoin: naming(() => ({ holder: named(), addresses: [] })),
    }))
    const arrived = acceptor.next()
    expect(await exchange(await caller.open(), await arrived, '"hello"')).toBe('"hello"')
  })

  it('names another member than the trusted one calls nobody', async () => {
    const { acceptor, caller } = await meeting((named) => ({
      onJoin: naming(() => ({ holder: named(), addresses: [] })),
    }))
    const trusted = { ...TRUST, ...holders(member('serve')) }
    await expect(caller.open(trusted)).rejects.toMatchObject({ code: 'ERR_PEER_KEY_MISMATCH' })
    expect(acceptor.sessions).toEqual([])
  })

  it('leads to another member than the one it named calls nobody', async () => {
    let elsewhere = ''
    const { broker, acceptor, caller } = await meeting((named) => ({
      onJoin: naming(() => ({ holder: named(), addresses: [] })),
      leads: () => elsewhere as HolderId,
    }))
    const other = await acceptBehind(broker)
    elsewhere = other.self.holder.id
    await expect(caller.open()).rejects.toMatchObject({ code: 'ERR_PEER_KEY_MISMATCH' })
    expect([...acceptor.sessions, ...other.sessions]).toEqual([])
  })

  it('names somebody at the address of another member calls nobody', async () => {
    let where = { host: '127.0.0.1', port: 1 }
    const gone = holderKey(SecretKey.generate()).id
    const broker = await startLyingBroker({ onJoin: naming(() => ({ holder: gone, addresses: [where] })) })
    const other = await accept(broker)
    where = other.address
    const caller = await call(broker)
    await expect(caller.open()).rejects.toMatchObject({
      code: expect.stringMatching(/^ERR_PEER_(KEY_MISMATCH|UNREACHABLE)$/),
    })
    expect(other.sessions).toEqual([])
  })

  it('names a friend of its own, with a grant of its own, calls nobody', async () => {
    const friend = member('serve')
    const own = credentialsOf(friend, { operator: holderKey(SecretKey.generate()) })
    const serving = await serve({ self: { ...friend, credentials: () => own }, trust: TRUST })
    const broker = await startLyingBroker({
      onJoin: naming(() => ({ holder: friend.holder.id, addresses: [serving.address] })),
    })
    const arrived = serving.next()
    await expect((await call(broker)).open()).rejects.toMatchObject({ code: 'ERR_GRANT_INVALID' })
    // The friend is told so and nothing else, however willing it is.
    const heard: unknown[] = []
    const session = await arrived
    session.receive((message) => heard.push(message))
    expect((await session.closed).reason.code).toBe('ERR_GRANT_INVALID')
    expect(heard).toEqual([])
  })

  it('names itself calls nobody', async () => {
    const self = { holder: '' as HolderId, addresses: [{ host: '127.0.0.1', port: 0 }] }
    const broker = await startLyingBroker({ onJoin: naming(() => self) })
    self.holder = broker.holder
    const port = Number(/\/tcp\/(\d+)/.exec(broker.ticketLine)?.[1])
    self.addresses = [{ host: '127.0.0.1', port }]
    await expect((await call(broker)).open()).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) })
  })

  it('shows the credentials that it was shown is not taken for their member', async () => {
    const { broker, acceptor, caller } = await meeting(() => ({}))
    const opening = caller.open(TRUST).catch((error: unknown) => error)
    await expect.poll(() => broker.joins.map(({ side }) => side)).toEqual(['accept', 'initiate'])
    const stolen = broker.joins.find(({ side }) => side === 'initiate')?.credentials
    if (stolen === undefined) throw new TypeError('expected the credentials of the caller')
    const thief = { ...member('call'), credentials: () => stolen }
    const target = { addresses: [acceptor.address], trust: holders(acceptor.self) }
    const session = await open(thief, target)
    await expect(session.ready).rejects.toMatchObject({ code: 'ERR_GRANT_INVALID' })
    expect(acceptor.sessions).toEqual([])
    await caller.dialler.close()
    await opening
  })

  const stalls: readonly { name: string; lies: (named: () => HolderId) => Lies }[] = [
    {
      name: 'never answers the join',
      lies: () => ({ onJoin: ({ side }, say) => void (side === 'accept' && say(JOINED)) }),
    },
    { name: 'never names anybody', lies: () => ({}) },
    {
      name: 'never leads to whom it named',
      lies: (named) => ({ onJoin: naming(() => ({ holder: named(), addresses: [] })), stalls: true }),
    },
    {
      name: 'names somebody who is nowhere',
      lies: () => ({ onJoin: naming(() => ({ holder: holderKey(SecretKey.generate()).id, addresses: [] })) }),
    },
  ]
  for (const { name, lies } of stalls) {
    it(`${name} gets an error as soon as its time is up`, async () => {
      const { broker, acceptor, caller } = await meeting(lies)
      const patience = new AbortController()
      const opening = caller.dialler.open({ addresses: [], trust: TRUST }, patience.signal)
      await expect.poll(() => broker.joins.length).toBe(2)
      patience.abort(new CtError('ERR_TIMEOUT', 'no session in time'))
      await expect(opening).rejects.toMatchObject({ code: 'ERR_TIMEOUT' })
      expect(acceptor.sessions).toEqual([])
    })
  }

  it('changes what it relays hears of nothing, and nothing changed is taken', async () => {
    let isBending = false
    const { acceptor, caller } = await meeting((named) => ({
      onJoin: naming(() => ({ holder: named(), addresses: [] })),
      bends: (bytes) => (isBending ? bytes.map((byte, at) => (at === bytes.length - 1 ? byte ^ 1 : byte)) : bytes),
    }))
    const arrived = acceptor.next()
    const session = await caller.open()
    const far = await arrived
    const heard: unknown[] = []
    far.receive((message) => heard.push(message))
    isBending = true
    await session.send({ text: '"hello"' })
    expect((await far.closed).reason.code).toMatch(/^ERR_(LINK_LOST|PROTOCOL)$/)
    expect(heard).toEqual([])
    expect((await session.closed).reason.facts.retryable).toBe(true)
  })

  it('puts bytes of its own between those it relays is not believed', async () => {
    let insert = 0
    const { acceptor, caller } = await meeting((named) => ({
      onJoin: naming(() => ({ holder: named(), addresses: [] })),
      bends: (bytes) => {
        if (insert === 0) return bytes
        insert -= 1
        return Buffer.concat([Buffer.from([0, 2, 1, 1]), bytes])
      },
    }))
    const arrived = acceptor.next()
    const session = await caller.open()
    const far = await arrived
    const heard: unknown[] = []
    far.receive((message) => heard.push(message))
    insert = 1
    await session.send({ text: '"hello"' })
    await far.closed
    expect(heard).toEqual([])
  })

  it('meddles with the handshake of members gets them no session', async () => {
    const { acceptor, caller } = await meeting((named) => ({
      onJoin: naming(() => ({ holder: named(), addresses: [] })),
      bends: (bytes) => (bytes.length > 32 ? bytes.map((byte, at) => (at === 40 ? byte ^ 1 : byte)) : bytes),
    }))
    await expect(caller.open()).rejects.toMatchObject({ code: expect.stringMatching(/^ERR_/) })
    expect(acceptor.sessions).toEqual([])
  })
})
