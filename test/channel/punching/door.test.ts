import { createServer } from 'node:net'
import { type Connection } from '@libp2p/interface'
import { afterEach, describe, expect, it } from 'vitest'
import { createNode, stopNode } from '../../../src/channel/node/node.ts'
import { ipMultiaddr } from '../../../src/channel/node/transport-address.ts'
import { Answerer } from '../../../src/channel/punching/answer.ts'
import { PUNCH_PROTOCOL } from '../../../src/channel/punching/messages.ts'
import { ownNetworks } from '../../../src/channel/punching/neighbours.ts'
import { PunchTalk } from '../../../src/channel/punching/talk.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { systemClock } from '../../../src/core/time.ts'
import { startBroker } from '../broker/raw-member.ts'
import { accept, has } from '../brokered-members.ts'
import { listening } from '../cutting-proxy.ts'
import { closeAll, closing, member } from '../members.ts'

afterEach(closeAll)

const SOON = (): AbortSignal => AbortSignal.timeout(5_000)

/** A node that listens on loopback, and its only address. */
async function node() {
  const { holder, noise } = member('call')
  const made = await createNode({ holder, noise, listen: [{ host: '127.0.0.1', port: 0 }], maxSessions: 8 })
  closing(() => stopNode(made.libp2p, systemClock))
  await made.libp2p.start()
  const [address] = made.addresses()
  if (address === undefined) throw new Error('expected a node that listens')
  return { ...made, holder: holder.id, address: ipMultiaddr(address.host, address.port) }
}

/** A caller and an acceptor that is told by its broker that the caller is at these hosts. */
async function talking(hosts: readonly string[]) {
  const [caller, acceptor] = [await node(), await node()]
  const dialled: string[] = []
  const answerer = new Answerer({
    node: {
      ...acceptor,
      dial: (address) => {
        dialled.push(address.toString().replace(/\/p2p\/.*/, ''))
        return Promise.reject(new Error('not in this test'))
      },
    },
    networks: () => ownNetworks({}),
    at: () => [{ host: '192.0.2.1', port: 1 }],
    seen: () => ({ seen: { host: '203.0.113.1', port: 7 }, localPort: undefined }),
    hostsOf: (holder: HolderId) => new Set(holder === caller.holder ? hosts : []),
    onDialled: () => {},
    clock: systemClock,
    random: Math.random,
  })
  await acceptor.libp2p.handle(PUNCH_PROTOCOL, (stream) => void answerer.answer(stream, caller.holder))
  const connection: Connection = await caller.dial(acceptor.address, SOON())
  const talk = await PunchTalk.open(connection, SOON())
  closing(() => Promise.resolve(talk.close()))
  return { talk, dialled }
}

describe('an acceptor in a talk', () => {
  it('says where it is, and dials the caller where the broker sees it, at the port that it names', async () => {
    const { talk, dialled } = await talking(['203.0.113.5'])
    talk.say({ kind: 'here', seen: { host: '203.0.113.5', port: 4_000 }, isOpen: false, at: [] })
    // Without a port that can be used again, its own is of no use.
    expect(await talk.hear(SOON())).toEqual({
      kind: 'here',
      seen: { host: '203.0.113.1', port: 0 },
      isOpen: false,
      at: [{ host: '192.0.2.1', port: 1 }],
    })
    talk.say({ kind: 'go', round: 'receive', ms: 500 })
    await expect.poll(() => dialled[0]).toBe('/ip4/203.0.113.5/tcp/4000')
  })

  it('dials nobody for a caller that says it is somebody else', async () => {
    const { talk, dialled } = await talking(['203.0.113.5'])
    talk.say({ kind: 'here', seen: { host: '203.0.113.6', port: 22 }, isOpen: true, at: [] })
    await talk.hear(SOON())
    for (const round of ['receive', 'cross'] as const) talk.say({ kind: 'go', round, ms: 1 })
    // The last word of a talk is heard when all before it was.
    talk.say({ kind: 'here', isOpen: false, at: [] })
    await expect.poll(() => talk.ended.aborted, { timeout: 5_000 }).toBe(true)
    expect(dialled).toEqual([])
  })

  it('is not to be had without a session', async () => {
    const broker = await startBroker()
    const { address, states } = await accept(broker)
    await has(states, 'reserved')
    const stranger = await node()
    const connection = await stranger.dial(ipMultiaddr(address.host, address.port), SOON())
    const stream = await connection.newStream(PUNCH_PROTOCOL, { signal: SOON() })
    await expect.poll(() => stream.status).toBe('reset')
  })
})

describe('a port that takes connections for a while', () => {
  it('keeps those that came, and takes no more', async () => {
    const [one, other] = [await node(), await node()]
    const server = createServer()
    const port = await listening(server)
    await new Promise((resolve) => server.close(resolve))
    const close = await one.receiveAt({ host: '127.0.0.1', port })
    const connection = await other.dial(ipMultiaddr('127.0.0.1', port), SOON())
    close()
    await expect(other.dial(ipMultiaddr('127.0.0.1', port), SOON())).rejects.toThrow(/ECONNREFUSED/)
    expect(connection.status).toBe('open')
  })
})
