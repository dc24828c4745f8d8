import { describe, expect, it } from 'vitest'
import { type Address } from '../../src/channel/address.ts'
import { planRungs, reachableBeside, rungName, STAGGER_MS, type Ways } from '../../src/channel/dialling/ladder.ts'

const [A, B, C] = ['a', 'b', 'c'].map((host): Address => ({ host, port: 1 })) as [Address, Address, Address]

const plans: readonly (readonly [string, Ways, readonly (readonly [string, number])[]])[] = [
  ['nothing', { addresses: [], relay: false }, []],
  ['the relay at once where there is nothing else', { addresses: [], relay: true }, [['relay', 0]]],
  [
    'addresses one stagger apart',
    { addresses: [A, B, C], relay: false },
    [
      ['direct a:1', 0],
      ['direct b:1', 1],
      ['direct c:1', 2],
    ],
  ],
  [
    'the relay at once beside nothing but where the broker sees the peer',
    { addresses: [A], relay: true },
    [
      ['relay', 0],
      ['direct a:1', 1],
    ],
  ],
  [
    'the relay one stagger after the first address',
    { addresses: [A, B, C], relay: true },
    [
      ['direct a:1', 0],
      ['relay', 1],
      ['direct b:1', 2],
      ['direct c:1', 3],
    ],
  ],
  [
    'the address that worked the last time first',
    { addresses: [A, B], relay: true, lastGood: 'direct b:1' },
    [
      ['direct b:1', 0],
      ['direct a:1', 1],
      ['relay', 2],
    ],
  ],
  [
    'the relay that worked the last time beside the first address',
    { addresses: [A, B], relay: true, lastGood: 'relay' },
    [
      ['relay', 0],
      ['direct a:1', 0],
      ['direct b:1', 1],
    ],
  ],
  [
    'the relay at once beside the address that broke just now',
    { addresses: [A, B], relay: true, lastGood: 'direct b:1', broke: true },
    [
      ['direct b:1', 0],
      ['direct a:1', 1],
      ['relay', 0],
    ],
  ],
  ['as ever where the last way is no more', { addresses: [A], relay: false, lastGood: 'relay' }, [['direct a:1', 0]]],
]

describe('planRungs', () => {
  for (const [name, ways, expected] of plans) {
    it(`plans ${name}`, () => {
      expect(planRungs(ways).map(({ rung, afterMs }) => [rungName(rung), afterMs / STAGGER_MS])).toEqual(expected)
    })
  }
})

describe('reachableBeside', () => {
  const PUBLIC = ['203.0.113.5', '2001:db8::1', '172.32.0.1', '100.128.0.1', '11.0.0.1']
  const PRIVATE = ['10.0.0.1', '172.16.0.1', '192.168.1.1', '169.254.169.254', '100.64.0.1', 'fd00::1', 'fe80::1']
  const LOOPBACK = ['127.0.0.1', '::1', '127.9.9.9']
  const NOWHERE = ['0.0.0.0', '::', '224.0.0.1', '255.255.255.255', 'ff02::1', '0.1.2.3']
  const NAMES = ['agent.example.org', 'localhost']
  const all = [...PUBLIC, ...PRIVATE, ...LOOPBACK, ...NOWHERE, ...NAMES].map((host): Address => ({ host, port: 1 }))
  const hosts = (via: string) => reachableBeside(all, via).map(({ host }) => host)

  it('keeps only public addresses beside a broker on the internet', () => {
    for (const via of ['203.0.113.9', 'broker', '2001:db8::9', '::ffff:203.0.113.9']) expect(hosts(via)).toEqual(PUBLIC)
  })

  it('keeps those of a private network as well beside a broker in one', () => {
    for (const via of ['192.168.0.9', '::ffff:10.1.1.1']) expect(hosts(via)).toEqual([...PUBLIC, ...PRIVATE])
  })

  it('keeps those of this machine as well beside a broker on it', () => {
    for (const via of ['127.0.0.1', '::1']) expect(hosts(via)).toEqual([...PUBLIC, ...PRIVATE, ...LOOPBACK])
  })

  it('takes the IPv6 form of an IPv4 address for what it stands for', () => {
    expect(reachableBeside([{ host: '::ffff:127.0.0.1', port: 1 }], '203.0.113.9')).toEqual([])
  })

  it('is not taken in by another spelling', () => {
    const spelled = [
      '0:0:0:0:0:0:0:1',
      '::127.0.0.1',
      '::7f00:1',
      '2002:7f00:1::',
      '64:ff9b::7f00:1',
      'FD00::1',
      '::ffff:7f00:1',
    ]
    for (const host of spelled) expect(reachableBeside([{ host, port: 1 }], '203.0.113.9')).toEqual([])
    expect(reachableBeside([{ host: '0:0:0:0:0:0:0:1', port: 1 }], '127.0.0.1')).toHaveLength(1)
  })

  it('drops port 0', () => {
    expect(reachableBeside([{ host: '203.0.113.5', port: 0 }], '127.0.0.1')).toEqual([])
  })
})
