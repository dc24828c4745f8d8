import { type MessageStream } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, describe, expect, it } from 'vitest'
import { type Listener, listen } from '../../src/channel/listening/listen.ts'
import { joinWrites } from '../../src/channel/node/joined-writes.ts'
import { createNode, MAX_NEWCOMERS } from '../../src/channel/node/node.ts'
import { CtError } from '../../src/core/errors.ts'
import { type InstanceId } from '../../src/core/ids.ts'
import { holderKey, noiseKey, SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { helloOf, pair } from './session-pair.ts'
import { settle } from './test-wire.ts'

const QUIET = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {} }
const RUN = 'ab'.repeat(16) as InstanceId

function newKeys() {
  return { holder: holderKey(SecretKey.generate()), noise: noiseKey(SecretKey.generate()) }
}

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

async function server(): Promise<Listener> {
  const { limits } = helloOf('serve')
  const listener = await listen({
    self: { ...newKeys(), run: RUN, agent: 'test', mode: 'serve', limits },
    listen: [{ host: '127.0.0.1', port: 0 }],
    trust: { ticketSecret: SecretKey.generate() },
    maxSessions: 2,
    onSession: () => {},
    clock: systemClock,
    log: QUIET,
  })
  closers.push(() => listener.close(new CtError('ERR_PEER_SHUTDOWN', 'over')))
  return listener
}

/** A connection that a stranger holds, without a session. */
async function stranger({ addresses: [address] }: Listener) {
  const { libp2p } = await createNode({ ...newKeys(), listen: [], maxSessions: 1 })
  await libp2p.start()
  closers.push(async () => libp2p.stop())
  return libp2p.dial(multiaddr(`/ip4/127.0.0.1/tcp/${address?.port}`))
}

describe('listen', () => {
  it('lets the oldest newcomer go when too many hold a connection without a session, and lets the next one in', async () => {
    const listener = await server()
    const first = await stranger(listener)
    const gone = new Promise((resolve) => first.addEventListener('close', resolve))
    for (let count = 0; count < MAX_NEWCOMERS; count += 1) await stranger(listener)
    await gone
    expect((await stranger(listener)).status).toBe('open')
  }, 30_000)
})

describe('joinWrites', () => {
  /** As much of a connection as is needed, with a send buffer that the test fills. */
  function connection() {
    const writes: number[] = []
    let aborted: Error | undefined
    const fake = {
      status: 'open',
      writableNeedsDrain: false,
      writeBufferLength: 0,
      send: (data: { readonly byteLength: number }) => writes.push(data.byteLength) > 0,
      close: () => Promise.resolve(),
      abort: (error: Error) => {
        aborted = error
      },
    }
    joinWrites(fake as unknown as MessageStream)
    return { fake: fake as typeof fake & { send: (data: Uint8Array) => boolean }, writes, aborted: () => aborted }
  }

  it('makes one write of what is sent in one turn', async () => {
    const { fake, writes } = connection()
    for (const size of [2, 50, 3]) fake.send(new Uint8Array(size))
    await settle()
    expect(writes).toEqual([55])
  })

  it('writes at once what is large', () => {
    const { fake, writes } = connection()
    fake.send(new Uint8Array(200_000))
    expect(writes).toEqual([200_000])
  })

  it('writes before closing what was sent before closing', async () => {
    const { fake, writes } = connection()
    fake.send(new Uint8Array(7))
    await fake.close()
    expect(writes).toEqual([7])
  })

  it('cuts off a peer that lets too much wait below the muxer', () => {
    const { fake, aborted } = connection()
    fake.writeBufferLength = 64 * 1024 * 1024
    expect(fake.send(new Uint8Array(10))).toBe(false)
    expect(aborted()).toBeInstanceOf(Error)
  })
})

describe('a session', () => {
  it('keeps tagged calls in order, also a small one behind a large one, and lets other messages pass', async () => {
    const { caller, server: serving } = pair()
    const order: string[] = []
    await caller.ready
    serving.receive((message) => order.push(`${message.call?.sequence ?? 'untagged'}`))
    const tag = (sequence: number) => ({ instance: RUN, sequence, acknowledgedBelow: 1, resent: false })
    void caller.send({ text: JSON.stringify('x'.repeat(400_000)), call: tag(1) })
    void caller.send({ text: '"small"', call: tag(2) })
    void caller.send({ text: '"aside"' })
    await settle()
    expect(order).toEqual(['untagged', '1', '2'])
  })
})
