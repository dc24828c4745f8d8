import { connect, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Address } from '../../src/channel/address.ts'
import { type Session } from '../../src/channel/session/session.ts'
import { CtError, isCtError } from '../../src/core/errors.ts'
import { type Damage, damagingProxy, listening } from './cutting-proxy.ts'
import { closeAll, closing, dialler, exchange, holders, member, open, type Serving, serve } from './members.ts'

const unhandled: unknown[] = []
const note = (error: unknown): void => {
  unhandled.push(error)
}
beforeAll(() => {
  process.on('unhandledRejection', note)
  process.on('uncaughtExceptionMonitor', note)
})
afterAll(() => {
  process.off('unhandledRejection', note)
  process.off('uncaughtExceptionMonitor', note)
})
afterEach(async () => {
  await closeAll()
  expect(unhandled.splice(0)).toEqual([])
})

const self = member('call')

async function expectServes({ self: server, address, next }: Serving): Promise<void> {
  const taken = next()
  const session = await open(self, { addresses: [address], trust: holders(server) })
  expect(await exchange(session, await taken, 'still there')).toBe('still there')
}

/** Connects, writes, and resolves when the listener has closed the connection. */
function shout({ host, port }: Address, bytes: Uint8Array): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, host, () => socket.write(bytes))
    socket.on('error', () => {})
    socket.on('data', () => {})
    socket.on('close', () => resolve())
  })
}

const TLS_HELLO = Buffer.concat([Buffer.from('16030100c8010000c40303', 'hex'), Buffer.alloc(194, 7)])
const MULTISTREAM = Buffer.from('\u0013/multistream/1.0.0\n')
const strangers: readonly { name: string; bytes: Uint8Array }[] = [
  { name: 'an HTTP request', bytes: Buffer.from('GET / HTTP/1.1\r\nHost: a\r\n\r\n') },
  { name: 'a TLS hello', bytes: TLS_HELLO },
  { name: 'an SSH banner', bytes: Buffer.from('SSH-2.0-OpenSSH_9.6\r\n') },
  { name: 'zeros', bytes: Buffer.alloc(4_096) },
  { name: 'ones', bytes: Buffer.alloc(4_096, 0xff) },
  { name: 'a megabyte of noise', bytes: Buffer.alloc(1_048_576, 'garbage that is no protocol') },
  { name: 'a protocol nobody speaks', bytes: Buffer.concat([MULTISTREAM, Buffer.from('\u0007/plain\n')]) },
  {
    name: 'garbage in place of a Noise handshake',
    bytes: Buffer.concat([MULTISTREAM, Buffer.from('\u0007/noise\n'), Buffer.alloc(300, 5)]),
  },
  {
    name: 'a Noise handshake with the key zero',
    bytes: Buffer.concat([MULTISTREAM, Buffer.from('\u0007/noise\n'), Buffer.from([0, 32]), Buffer.alloc(32)]),
  },
]

function connected({ host, port }: Address): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, host, () => resolve(socket))
    socket.on('error', reject)
  })
}

describe('a listener', () => {
  for (const { name, bytes } of strangers) {
    it(`serves the next peer after ${name}`, async () => {
      const serving = await serve({ trust: holders(self) })
      void shout(serving.address, bytes)
      await expectServes(serving)
      expect(serving.sessions).toHaveLength(1)
    })
  }

  it('lets go of every one of them', async () => {
    const { address } = await serve({ trust: holders(self) })
    await Promise.all(strangers.map(({ bytes }) => shout(address, bytes)))
  })

  it('serves while others connect and say nothing', async () => {
    const serving = await serve({ trust: holders(self) })
    const silent = await Promise.all(Array.from({ length: 30 }, () => connected(serving.address)))
    await expectServes(serving)
    for (const socket of silent) socket.destroy()
  })
})

/** Every byte of the first exchange, then ever rarer ones until well into the session. */
const CUTS = [
  0, 1, 2, 19, 20, 21, 27, 28, 29, 30, 61, 62, 63, 64, 100, 150, 188, 200, 256, 300, 330, 350, 380, 420, 460, 500,
]

describe('a connection that is cut', () => {
  for (const side of ['caller', 'server'] as const) {
    for (const how of ['reset', 'end'] as const) {
      it(`after any number of the ${side}’s bytes by ${how} ends in one typed error, and the listener serves on`, async () => {
        const serving = await serve({ trust: holders(self), maxSessions: 64 })
        let damage: Damage | undefined
        const proxy = await damagingProxy(serving.address, () => damage)
        const calling = await dialler(self)
        const target = { addresses: [proxy], trust: holders(serving.self) }
        const codes = new Set<string>()
        for (const after of CUTS) {
          damage = { side, after, how }
          codes.add(await outcome(calling.open(target, AbortSignal.timeout(8_000))))
        }
        expect([...codes].filter((code) => !['ERR_PEER_UNREACHABLE', 'ERR_LINK_LOST', 'open'].includes(code))).toEqual(
          [],
        )
        expect(codes.has('ERR_PEER_UNREACHABLE')).toBe(true)
        await expectServes(serving)
      })
    }
  }
})

describe('a connection on which one bit is bent (W44)', () => {
  const rows = [
    { side: 'caller', chars: 100 },
    { side: 'caller', chars: 3_000 },
    { side: 'server', chars: 100 },
    { side: 'server', chars: 3_000 },
  ] as const
  for (const { side, chars } of rows) {
    it(`ends on both sides when the ${side}’s messages of ${chars} characters no longer decrypt`, async () => {
      const serving = await serve({ trust: holders(self) })
      let damage: Damage | undefined
      let messages = 0
      const proxy = await damagingProxy(serving.address, () => damage)
      const target = { addresses: [proxy], trust: holders(serving.self) }
      // Far enough for the handshake and the hellos, not for the messages that follow.
      damage = { side, after: 1_200, how: 'flip' }
      const taken = serving.next()
      const session = await open(self, target)
      const peer = await taken
      await session.ready
      const [from, to] = side === 'caller' ? [session, peer] : [peer, session]
      to.receive(() => {
        messages += 1
      })
      for (let count = 0; count < 20; count += 1) {
        void from.send({ text: JSON.stringify('x'.repeat(chars)) }).catch(() => {})
        await new Promise((resolve) => setImmediate(resolve))
      }
      const ends = await Promise.all([session.closed, peer.closed])
      expect(ends.map(({ reason }) => reason.code)).toEqual(['ERR_LINK_LOST', 'ERR_LINK_LOST'])
      expect(messages).toBeLessThan(20)
      await expectServes(serving)
    })
  }

  it('in any byte of the handshake never opens a session', async () => {
    const serving = await serve({ trust: holders(self), maxSessions: 64 })
    let damage: Damage | undefined
    const proxy = await damagingProxy(serving.address, () => damage)
    const calling = await dialler(self)
    const target = { addresses: [proxy], trust: holders(serving.self) }
    for (const side of ['caller', 'server'] as const) {
      for (const after of [31, 40, 63, 70, 90, 130, 180, 230]) {
        damage = { side, after, how: 'flip' }
        const code = await outcome(calling.open(target, AbortSignal.timeout(1_500)))
        expect(['ERR_PEER_UNREACHABLE', 'ERR_CALL_CANCELLED', 'ERR_LINK_LOST', 'ERR_PEER_KEY_MISMATCH']).toContain(code)
      }
    }
    expect(serving.sessions).toEqual([])
    await expectServes(serving)
  })
})

describe('a caller', () => {
  const servers: readonly { name: string; answer: (socket: Socket) => void }[] = [
    { name: 'an HTTP server', answer: (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') },
    { name: 'a server that hangs up', answer: (socket) => socket.end() },
    { name: 'a server that resets', answer: (socket) => socket.resetAndDestroy() },
    { name: 'a server that talks nonsense', answer: (socket) => socket.write(Buffer.alloc(1_000, 'A')) },
  ]
  for (const { name, answer } of servers) {
    it(`says that ${name} is not the peer`, async () => {
      const server = createServer((socket) => {
        socket.on('error', () => {})
        socket.resume()
        answer(socket)
      })
      const port = await listening(server)
      closing(() => new Promise((resolve) => server.close(() => resolve())))
      const opening = open(self, { addresses: [{ host: '127.0.0.1', port }], trust: holders(member('serve')) })
      await expect(opening).rejects.toMatchObject({ code: 'ERR_PEER_UNREACHABLE' })
    })
  }

  it('gives up a server that says nothing when its signal aborts', async () => {
    const server = createServer((socket) => socket.on('error', () => {}).resume())
    const port = await listening(server)
    closing(() => new Promise((resolve) => server.close(() => resolve())))
    const abort = new AbortController()
    const opening = open(
      self,
      { addresses: [{ host: '127.0.0.1', port }], trust: holders(member('serve')) },
      abort.signal,
    )
    server.once('connection', () => abort.abort())
    await expect(opening).rejects.toMatchObject({ code: 'ERR_CALL_CANCELLED' })
  })
})

/** `open`, or the code with which a session did not open or ended. */
async function outcome(opening: Promise<Session>): Promise<string> {
  try {
    const session = await opening
    await session.ready
    session.end(new CtError('ERR_LINK_CLOSED', 'done'))
    await session.finished
    return 'open'
  } catch (error) {
    return isCtError(error) ? error.code : String(error)
  }
}
