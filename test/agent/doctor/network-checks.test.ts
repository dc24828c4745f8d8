import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkBroker } from '../../../src/agent/doctor/broker-check.ts'
import { checkClock } from '../../../src/agent/doctor/clock-check.ts'
import { checkNames } from '../../../src/agent/doctor/dns-check.ts'
import { checkPorts } from '../../../src/agent/doctor/port-check.ts'
import { type BrokerPlace } from '../../../src/channel/index.ts'
import { systemClock } from '../../../src/core/time.ts'
import { silentLog } from '../../silent-log.ts'

const signal = new AbortController().signal

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  return (server.address() as AddressInfo).port
}

async function closedPort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

function place(port: number, transport: BrokerPlace['transport'] = 'tcp'): BrokerPlace {
  return { host: '127.0.0.1', port, transport }
}

describe('the doctor, of the clock', () => {
  const telling = (offsetMs: number): Promise<number> =>
    listening(
      createHttpServer((_, response) => {
        response.writeHead(400, { Date: new Date(Date.now() + offsetMs).toUTCString() }).end()
      }),
    )

  for (const [offsetMs, code, words] of [
    [0, 'clock.ok', /the same/],
    [30_000, 'clock.ok', /the same/],
    [600_000, 'clock.off', /^(?:599|60[01]) s behind/],
    [-600_000, 'clock.off', /^(?:599|60[01]) s ahead/],
  ] as const) {
    it(`finds ${code} beside one that is ${offsetMs} ms ahead`, async () => {
      const places = [place(await closedPort(), 'ws'), place(await telling(offsetMs), 'ws')]
      const finding = await checkClock(systemClock, { places, newestChange: 0 }, signal)
      expect(finding).toMatchObject({ code, message: expect.stringMatching(words) as string })
    })
  }

  it('says that it was not compared when nobody tells the time', async () => {
    for (const places of [[], [place(1)], [place(await closedPort(), 'wss')]]) {
      expect((await checkClock(systemClock, { places, newestChange: 0 }, signal)).code).toBe('clock.skipped')
    }
  })

  it('finds that it was set back since something was written', async () => {
    const newestChange = Date.now() + 3_600_000
    expect((await checkClock(systemClock, { places: [], newestChange }, signal)).code).toBe('clock.behind')
  })
})

describe('the doctor, of ports', () => {
  it('finds free ones, those of others, and addresses that are not of this machine', async () => {
    const taken = await listening(createServer())
    const free = await closedPort()
    const hosts = [
      { host: '127.0.0.1', port: 0 },
      { host: '127.0.0.1', port: free },
      { host: '127.0.0.1', port: taken },
      { host: '192.0.2.1', port: free },
    ]
    expect((await checkPorts(hosts, '/nowhere')).map(({ code }) => code)).toEqual([
      'port.ok',
      'port.ok',
      'port.in_use',
      'port.not_here',
    ])
  })
})

describe('the doctor, of names', () => {
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }))

  it('finds them, those that nobody knows, and a resolver that does not answer', async () => {
    const wanted = [
      { host: 'a.example', port: 1 },
      { host: 'a.example', port: 2 },
      { host: '192.0.2.1', port: 1 },
    ]
    const known = await checkNames(wanted, () => Promise.resolve({ address: '192.0.2.9' }))
    expect(known).toMatchObject([{ code: 'dns.ok', message: 'a.example is 192.0.2.9' }])
    expect(await checkNames(wanted, failing('ENOTFOUND'))).toMatchObject([{ code: 'dns.not_found' }])
    expect(await checkNames(wanted, failing('EAI_AGAIN'))).toMatchObject([{ code: 'dns.dead' }])
    expect(await checkNames([{ host: '::1', port: 1 }], failing('x'))).toMatchObject([{ code: 'dns.skipped' }])
  })
})

describe('the doctor, of a broker', () => {
  const probe = async (...places: readonly BrokerPlace[]) => {
    const options = { places, relay: [], operator: undefined, clock: systemClock, random: () => 0.5, log: silentLog }
    return (await checkBroker(options, signal)).map(({ code, status }) => `${code} ${status}`)
  }

  it('finds that there is none', async () => {
    expect(await probe()).toEqual(['broker.skipped skipped', 'relay.skipped skipped'])
  })

  it('finds that nothing listens there', async () => {
    expect(await probe(place(await closedPort()))).toEqual(['broker.closed fail', 'relay.skipped skipped'])
  })

  it('finds that something else listens there', async () => {
    const port = await listening(createServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')))
    const found = await probe(place(port), place(await closedPort()))
    expect(found).toEqual(['broker.not_a_broker fail', 'relay.skipped skipped', 'broker.closed warn'])
  })

  it('finds that what listens there says nothing', async () => {
    const port = await listening(createServer())
    expect(await probe(place(port))).toEqual(['broker.silent fail', 'relay.skipped skipped'])
  }, 15_000)
})
