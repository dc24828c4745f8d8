import { multiaddr } from '@multiformats/multiaddr'
import { describe, expect, it } from 'vitest'
import { brokerMultiaddr, formatBroker, parseBroker, parseFrontDoor } from '../../src/channel/broker-address.ts'

const PEER = '12D3KooWRawPbxPtP1eZaJpumGnyWX2DcUyd3RQnydr3eAto4Az7'

const good: readonly (readonly [string, ReturnType<typeof parseBroker>, string])[] = [
  ['203.0.113.5:4435', value('203.0.113.5', 4435), '/ip4/203.0.113.5/tcp/4435'],
  [' broker.example.org:4435 ', value('broker.example.org', 4435), '/dns/broker.example.org/tcp/4435'],
  ['[2001:db8::1]:4435', value('2001:db8::1', 4435), '/ip6/2001:db8::1/tcp/4435'],
  [`203.0.113.5:4435/p2p/${PEER}`, value('203.0.113.5', 4435, { peer: PEER }), '/ip4/203.0.113.5/tcp/4435'],
  ['/ip4/203.0.113.5/tcp/4435', value('203.0.113.5', 4435), '/ip4/203.0.113.5/tcp/4435'],
  ['/ip6/::1/tcp/1/', value('::1', 1), '/ip6/::1/tcp/1'],
  [
    `/dns4/b.example/tcp/443/tls/ws/p2p/${PEER}`,
    value('b.example', 443, { transport: 'wss', peer: PEER }),
    '/dns/b.example/tcp/443/tls/ws',
  ],
  ['/dns6/b.example/tcp/443/wss', value('b.example', 443, { transport: 'wss' }), '/dns/b.example/tcp/443/tls/ws'],
  ['/dns/b.example/tcp/80/ws', value('b.example', 80, { transport: 'ws' }), '/dns/b.example/tcp/80/ws'],
]

const bad: readonly (readonly [string, RegExp])[] = [
  ['', /expected host:port or a multiaddr/],
  ['nowhere', /expected host:port or a multiaddr/],
  ['host:0', /expected the port of a broker, found 0/],
  ['host:99999', /expected host:port or a multiaddr/],
  ['/ip4/203.0.113.5', /expected host:port or a multiaddr/],
  ['/ip4/203.0.113.5/udp/1/quic-v1', /expected host:port or a multiaddr/],
  ['/ip4/b.example/tcp/1', /expected an address of the kind ip4, found "b.example"/],
  ['/ip6/203.0.113.5/tcp/1', /expected an address of the kind ip6/],
  ['/ip4/203.0.113.5/tcp/1/http', /expected nothing, \/ws or \/tls\/ws after the port/],
  ['/ip4/203.0.113.5/tcp/x', /expected host:port/],
  ['host:1/p2p/', /expected a peer id of 52 characters/],
  ['host:1/p2p/QmNnooDu7bfjPFoTZYxMNLWUQJyrVwtbZg5gBMjTezGAJN', /expected a peer id of 52 characters/],
  [`host:1/p2p/${PEER}/p2p-circuit`, /expected/],
]

function value(host: string, port: number, more: object = {}) {
  return { value: { host, port, transport: 'tcp' as const, ...more } }
}

describe('parseBroker', () => {
  for (const [text, expected, address] of good) {
    it(`reads ${JSON.stringify(text)}`, () => {
      const found = parseBroker(text)
      expect(found).toEqual(expected)
      if (!('value' in found)) return
      expect(brokerMultiaddr(found.value)).toBe(address)
      expect(multiaddr(address).toString()).toBe(address)
    })
  }

  for (const [text, problem] of bad) {
    it(`refuses ${JSON.stringify(text)}`, () => {
      expect(parseBroker(text)).toEqual({ problem: expect.stringMatching(problem) })
    })
  }

  it('takes a bare front door for WebSocket over TLS', () => {
    expect(parseFrontDoor('b.example:443')).toEqual(value('b.example', 443, { transport: 'wss', isFrontDoor: true }))
    expect(parseFrontDoor('/ip4/127.0.0.1/tcp/80/ws')).toEqual(
      value('127.0.0.1', 80, { transport: 'ws', isFrontDoor: true }),
    )
  })
})

describe('formatBroker', () => {
  it('names the transport where it is not the plain one', () => {
    expect(formatBroker({ host: '::1', port: 1, transport: 'tcp' })).toBe('[::1]:1')
    expect(formatBroker({ host: 'b.example', port: 443, transport: 'wss' })).toBe('b.example:443 (wss)')
  })
})
