import { createServer } from 'node:net'
import { createServer as createSecureServer } from 'node:tls'
import { afterEach, describe, expect, it } from 'vitest'
import { Authorities, connectSecurely } from '../../src/channel/node/secure-socket.ts'
import { startBroker } from './broker/raw-member.ts'
import { accept, call, has, placesOf } from './brokered-members.ts'
import { certificate, type Issued } from './certificates.ts'
import { listening } from './cutting-proxy.ts'
import { closeAll, closing, exchange } from './members.ts'

afterEach(closeAll)

const AUTHORITY = certificate({ names: ['authority.test'], commonName: 'Authority', isAuthority: true })
const ISSUED = certificate({ names: ['127.0.0.1'], issuer: AUTHORITY })
const OWN = certificate({ names: ['front.test'] })
const DAY_MS = 86_400_000
const EXPIRED = certificate({ names: ['127.0.0.1'], from: daysFromNow(-2), until: daysFromNow(-1) })
const EARLY = certificate({ names: ['127.0.0.1'], from: daysFromNow(1), until: daysFromNow(2) })
const MISNAMED = certificate({ names: ['elsewhere.test'], issuer: AUTHORITY })

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * DAY_MS)
}

/** The port of a TLS server with this certificate. */
async function secureServer({ cert, key }: Issued): Promise<number> {
  const server = createSecureServer({ cert, key }, (socket) => socket.on('error', () => {}).resume())
  const port = await listening(server)
  closing(() => new Promise((resolve) => server.close(() => resolve())))
  return port
}

async function connectTo(port: number, trusted: readonly Issued[]): Promise<void> {
  const authorities = new Authorities(trusted.map(({ cert }) => cert))
  const socket = await connectSecurely({ host: '127.0.0.1', port }, authorities, AbortSignal.timeout(5_000))
  socket.destroy()
}

describe('a TLS connection', () => {
  const good: readonly (readonly [string, Issued, Issued])[] = [
    ['a certificate of an authority that is trusted', ISSUED, AUTHORITY],
    ['a certificate that is trusted itself, whoever issued it', ISSUED, ISSUED],
    ['its own certificate, whatever name is in it', OWN, OWN],
  ]
  for (const [name, issued, trusted] of good) {
    it(`is made with ${name}`, async () => {
      await expect(connectTo(await secureServer(issued), [AUTHORITY, trusted])).resolves.toBeUndefined()
    })
  }

  const bad: readonly { name: string; issued: Issued; trusted: readonly Issued[]; code: string; says: RegExp }[] = [
    {
      name: 'that nobody vouches for',
      issued: OWN,
      trusted: [],
      code: 'ERR_CERTIFICATE_UNTRUSTED',
      says: /CT_CHANNEL_FRONT_DOOR_CERT vouches for, found the certificate of 127\.0\.0\.1:\d+ \(CN=front\.test\): /,
    },
    {
      name: 'that is another than the trusted one',
      issued: OWN,
      trusted: [certificate({ names: ['front.test'] }), AUTHORITY],
      code: 'ERR_CERTIFICATE_UNTRUSTED',
      says: /\(CN=front\.test\)/,
    },
    {
      name: 'for another name',
      issued: MISNAMED,
      trusted: [AUTHORITY],
      code: 'ERR_CERTIFICATE_UNTRUSTED',
      says: /is for DNS:elsewhere\.test/,
    },
    {
      name: 'that has expired',
      issued: EXPIRED,
      trusted: [EXPIRED],
      code: 'ERR_CERTIFICATE_EXPIRED',
      says: /^the certificate of 127\.0\.0\.1:\d+ \(CN=front\.test\) expired on /,
    },
    {
      name: 'whose time is to come',
      issued: EARLY,
      trusted: [EARLY],
      code: 'ERR_CERTIFICATE_EXPIRED',
      says: /is good from .* on$/,
    },
  ]
  for (const { name, issued, trusted, code, says } of bad) {
    it(`is not made with a certificate ${name}, and says why`, async () => {
      const message = expect.stringMatching(says)
      await expect(connectTo(await secureServer(issued), trusted)).rejects.toMatchObject({ code, message })
    })
  }
})

describe('the front door of a broker', () => {
  it('leads two members to each other that get to no other address of it, and no further with a wrong certificate', async () => {
    const tls = { cert: ISSUED.cert, key: ISSUED.key }
    const broker = await startBroker({ wsListen: [{ host: '127.0.0.1', port: 0 }], tls })
    const place = placesOf(broker).find(({ transport }) => transport === 'wss')
    if (place === undefined) throw new Error('expected a front door')
    const dead = { host: '127.0.0.1', port: 1, transport: 'tcp' } as const
    const door = { ...place, isFrontDoor: true, certificates: [AUTHORITY.cert] } as const
    const serving = await accept(broker, { broker: [dead, door], relayOnly: true })
    await has(serving.states, 'reserved')
    const calling = await call(broker, { broker: [dead, door] })
    const taken = serving.next()
    const session = await calling.open()
    expect(await exchange(session, await taken, 'through the door')).toBe('through the door')
    const [way] = calling.states.filter((state) => state.kind === 'way')
    expect(way?.kind === 'way' && [way.way, way.where]).toEqual(['relay', expect.stringMatching(/\/tls\/ws/)])

    const wrong = await call(broker, { broker: [{ ...door, certificates: [OWN.cert] }] })
    await expect(wrong.open()).rejects.toMatchObject({ code: 'ERR_CERTIFICATE_UNTRUSTED' })
  })

  it('that speaks no TLS, or ends in the midst of it, is said to be out of reach', async () => {
    const [broker, ...ports] = await Promise.all([
      startBroker(),
      ...['HTTP/1.1 400 Bad Request\r\n\r\n', ''].map((answer) => {
        const server = createServer((socket) => {
          socket.on('error', () => {})
          socket.once('data', () => socket.end(answer))
        })
        closing(() => new Promise((resolve) => server.close(() => resolve())))
        return listening(server)
      }),
    ])
    for (const port of ports) {
      const door = { host: '127.0.0.1', port, transport: 'wss', isFrontDoor: true } as const
      const calling = await call(broker, { broker: [door] })
      const message = expect.stringContaining('(front door)')
      await expect(calling.open()).rejects.toMatchObject({ code: 'ERR_PEER_UNREACHABLE', message })
    }
  })
})
