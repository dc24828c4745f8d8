import { describe, expect, it } from 'vitest'
import { encodeFrame, FRAME } from '../../src/channel/session/frame.ts'
import { encodeHello } from '../../src/channel/session/hello.ts'
import { wayOf } from '../../src/channel/session/way.ts'
import { CtError } from '../../src/core/errors.ts'
import { helloOf, pair, raw } from './session-pair.ts'
import { settle, type TestWire } from './test-wire.ts'

/** A session whose peer is admitted, and the pings that it was sent. */
async function admitted() {
  const { session, wire, clock } = raw('call')
  wire.deliver(encodeFrame(FRAME.hello, encodeHello(helloOf('serve'))))
  await settle()
  return { session, wire, clock, pings: () => pingsOf(wire) }
}

function pingsOf(wire: TestWire): readonly Uint8Array[] {
  return wire.frames.filter(({ type }) => type === FRAME.ping).map(({ payload }) => payload)
}

const UNTOLD = new Uint8Array(8)

describe('the vitals of a session', () => {
  it('count every byte of the session, both ways', async () => {
    const { caller, server, callerWire, serverWire } = pair()
    await settle()
    server.receive(() => {})
    await caller.send({ text: 'x'.repeat(200_000) })
    await settle()
    const written = ({ writes }: TestWire): number => writes.reduce((total, { length }) => total + length, 0)
    expect(caller.vitals).toMatchObject({ bytesOut: written(callerWire), bytesIn: written(serverWire) })
    expect(server.vitals).toMatchObject({ bytesOut: written(serverWire), bytesIn: written(callerWire) })
    expect(caller.vitals.bytesOut).toBeGreaterThan(200_000)
  })

  it('measure the way to the peer by a ping that comes back', async () => {
    const { session, wire, clock, pings } = await admitted()
    expect(session.vitals.roundTripMs).toBeUndefined()
    const measured = session.vitals.measure()
    await settle()
    clock.advance(42)
    wire.deliverFrame(FRAME.pong, pings()[0] ?? UNTOLD)
    await measured
    expect(session.vitals.roundTripMs).toBe(42)
  })

  it('ask once, however many want to know, and believe only the answer to that', async () => {
    const { session, wire, clock, pings } = await admitted()
    const both = Promise.all([session.vitals.measure(), session.vitals.measure()])
    await settle()
    expect(pings()).toHaveLength(1)
    clock.advance(10)
    for (const false_ of [UNTOLD, new Uint8Array(3)]) wire.deliverFrame(FRAME.pong, false_)
    expect(session.vitals.roundTripMs).toBeUndefined()
    wire.deliverFrame(FRAME.pong, pings()[0] ?? UNTOLD)
    wire.deliverFrame(FRAME.pong, pings()[0] ?? UNTOLD)
    await both
    expect(session.vitals.roundTripMs).toBe(10)
  })

  it('keep nobody waiting who measures when the session ends, or has', async () => {
    const { session } = await admitted()
    const measured = session.vitals.measure()
    session.end(new CtError('ERR_LINK_CLOSED', 'over'))
    await measured
    await session.vitals.measure()
    expect(session.vitals.roundTripMs).toBeUndefined()
  })
})

describe('the way of a session', () => {
  it.each([
    { remote: '/ip4/127.0.0.1/tcp/4433/p2p/x', kind: 'direct', where: '127.0.0.1:4433' },
    { remote: '/ip6/::1/tcp/4433', kind: 'direct', where: '[::1]:4433' },
    { remote: '/ip4/203.0.113.5/tcp/4435/p2p/x/p2p-circuit/p2p/y', kind: 'relay', where: '203.0.113.5:4435' },
    { remote: '/ip4/203.0.113.5/tcp/443/tls/ws/p2p/x/p2p-circuit', kind: 'front-door', where: '203.0.113.5:443' },
    {
      remote: '/dns/broker.example/tcp/443/wss/p2p/x/p2p-circuit/p2p/y',
      kind: 'front-door',
      where: 'broker.example:443',
    },
    { remote: '/memory/1', kind: 'direct', where: '/memory/1' },
  ])('$remote is $kind at $where', ({ remote, kind, where }) => {
    expect(wayOf(remote)).toEqual({ kind, where })
  })
})
