import { describe, expect, it } from 'vitest'
import { passedAddresses, plainHost } from '../../../src/channel/broker/passed-addresses.ts'
import { MAX_ADDRESSES } from '../../../src/channel/rendezvous/fields.ts'

const cases: readonly { name: string; host: string; seen: string; reader: string; isPassed: boolean }[] = [
  {
    name: 'the address it is seen at',
    host: '203.0.113.5',
    seen: '203.0.113.5',
    reader: '198.51.100.7',
    isPassed: true,
  },
  {
    name: 'the IPv6 address it is seen at',
    host: '2001:db8::5',
    seen: '2001:db8::5',
    reader: '198.51.100.7',
    isPassed: true,
  },
  { name: 'another public address', host: '192.0.2.1', seen: '203.0.113.5', reader: '198.51.100.7', isPassed: false },
  {
    name: 'another public address from behind the same NAT',
    host: '192.0.2.1',
    seen: '203.0.113.5',
    reader: '203.0.113.5',
    isPassed: false,
  },
  {
    name: 'a private address from elsewhere',
    host: '192.168.1.5',
    seen: '203.0.113.5',
    reader: '198.51.100.7',
    isPassed: false,
  },
  {
    name: 'a private address from behind the same NAT',
    host: '192.168.1.5',
    seen: '203.0.113.5',
    reader: '203.0.113.5',
    isPassed: true,
  },
  {
    name: 'a private IPv6 address from behind the same NAT',
    host: 'fd00::5',
    seen: '203.0.113.5',
    reader: '203.0.113.5',
    isPassed: true,
  },
  {
    name: 'a loopback address from elsewhere',
    host: '127.0.0.1',
    seen: '203.0.113.5',
    reader: '198.51.100.7',
    isPassed: false,
  },
  {
    name: 'a loopback address from behind the same NAT',
    host: '127.0.0.1',
    seen: '203.0.113.5',
    reader: '203.0.113.5',
    isPassed: false,
  },
  {
    name: 'a loopback address on the machine of the broker',
    host: '127.0.0.2',
    seen: '127.0.0.1',
    reader: '127.0.0.1',
    isPassed: true,
  },
  {
    name: 'a link-local address from behind the same NAT',
    host: '169.254.1.1',
    seen: '203.0.113.5',
    reader: '203.0.113.5',
    isPassed: false,
  },
  {
    name: 'a private address in an IPv6 coat',
    host: '::ffff:10.0.0.1',
    seen: '203.0.113.5',
    reader: '198.51.100.7',
    isPassed: false,
  },
  { name: 'a name', host: 'localhost', seen: '203.0.113.5', reader: '203.0.113.5', isPassed: false },
]

describe('passedAddresses', () => {
  for (const { name, host, seen, reader, isPassed } of cases) {
    it(`${isPassed ? 'passes on' : 'keeps'} ${name}`, () => {
      const observed = { host: seen, port: 50_000 }
      const passed = passedAddresses(
        { observed, advertised: [{ host, port: 4433 }] },
        { observed: { host: reader, port: 50_001 }, advertised: [] },
      )
      expect(passed).toEqual([...(isPassed ? [{ host, port: 4433 }] : []), observed])
    })
  }

  it('names an address once, none with port 0, and no more than a message may hold', () => {
    const observed = { host: '203.0.113.5', port: 4433 }
    const reader = { observed: { host: '198.51.100.7', port: 1 }, advertised: [] }
    const twice = { observed, advertised: [observed, { host: '203.0.113.5', port: 0 }] }
    expect(passedAddresses(twice, reader)).toEqual([observed])
    const advertised = Array.from({ length: MAX_ADDRESSES }, (_, index) => ({ host: observed.host, port: index + 1 }))
    expect(passedAddresses({ observed, advertised }, reader)).toHaveLength(MAX_ADDRESSES)
  })
})

describe('plainHost', () => {
  it('takes the IPv6 coat off an IPv4 address, and leaves every other', () => {
    expect(plainHost('::ffff:192.0.2.1')).toBe('192.0.2.1')
    expect(plainHost('2001:db8::1')).toBe('2001:db8::1')
  })
})
