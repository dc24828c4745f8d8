import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Address, formatAddress, parseAddress } from '../../src/channel/address.ts'
import { addressOf, ipMultiaddr, resolveAddress } from '../../src/channel/node/transport-address.ts'

const good: readonly { text: string; address: Address }[] = [
  { text: '203.0.113.5:4433', address: { host: '203.0.113.5', port: 4433 } },
  { text: '[2001:db8::1]:4433', address: { host: '2001:db8::1', port: 4433 } },
  { text: '[::1]:0', address: { host: '::1', port: 0 } },
  { text: '[::]:1', address: { host: '::', port: 1 } },
  { text: '[::ffff:192.0.2.1]:1', address: { host: '::ffff:192.0.2.1', port: 1 } },
  { text: 'localhost:65535', address: { host: 'localhost', port: 65_535 } },
  { text: 'agent.example.org:1', address: { host: 'agent.example.org', port: 1 } },
  { text: 'agent.example.org.:1', address: { host: 'agent.example.org.', port: 1 } },
  { text: 'my_host-1:1', address: { host: 'my_host-1', port: 1 } },
  { text: 'xn--bcher-kva.example:1', address: { host: 'xn--bcher-kva.example', port: 1 } },
  { text: ' 127.0.0.1:80\n', address: { host: '127.0.0.1', port: 80 } },
]

const bad: readonly { name: string; text: string; problem: string }[] = [
  { name: 'nothing', text: '', problem: 'host:port' },
  { name: 'no port', text: '127.0.0.1', problem: 'host:port' },
  { name: 'an empty port', text: '127.0.0.1:', problem: 'host:port' },
  { name: 'a port of 65536', text: '127.0.0.1:65536', problem: 'a port up to 65535' },
  { name: 'a port of six digits', text: '127.0.0.1:000080', problem: 'host:port' },
  { name: 'a negative port', text: '127.0.0.1:-1', problem: 'host:port' },
  { name: 'a port in hex', text: '127.0.0.1:0x1', problem: 'host:port' },
  { name: 'no host', text: ':80', problem: 'an IP address or a DNS name' },
  { name: 'an IPv6 address without brackets', text: '::1:80', problem: 'in brackets' },
  { name: 'an IPv6 address with a zone', text: '[fe80::1%eth0]:80', problem: 'without a zone' },
  { name: 'an IPv4 address in brackets', text: '[127.0.0.1]:80', problem: 'an IPv6 address' },
  { name: 'empty brackets', text: '[]:80', problem: 'an IPv6 address' },
  { name: 'a number above 255', text: '256.1.1.1:80', problem: 'an IP address or a DNS name' },
  { name: 'an address of three numbers', text: '127.0.1:80', problem: 'an IP address or a DNS name' },
  { name: 'a bare number', text: '2130706433:80', problem: 'an IP address or a DNS name' },
  { name: 'an address in hex', text: '0x7f.0.0.1:80', problem: 'an IP address or a DNS name' },
  { name: 'a bare hex number', text: '0x7f000001:80', problem: 'an IP address or a DNS name' },
  { name: 'a URL', text: 'tcp://127.0.0.1:80', problem: 'host:port' },
  { name: 'a multiaddr', text: '/ip4/127.0.0.1/tcp/80', problem: 'host:port' },
  { name: 'a blank in the name', text: 'a b:80', problem: 'an IP address or a DNS name' },
  { name: 'an empty label', text: 'a..b:80', problem: 'an IP address or a DNS name' },
  { name: 'a label of 64 characters', text: `${'a'.repeat(64)}:80`, problem: 'an IP address or a DNS name' },
  { name: 'a name of 254 characters', text: `${'a.'.repeat(127)}:80`, problem: 'an IP address or a DNS name' },
  { name: 'a name that begins like an option', text: '-a:80', problem: 'an IP address or a DNS name' },
  { name: 'a name that is not ASCII', text: 'bücher.example:80', problem: 'an IP address or a DNS name' },
  { name: 'Arabic digits for a port', text: '127.0.0.1:٨٠', problem: 'host:port' },
]

describe('parseAddress', () => {
  for (const { text, address } of good) {
    it(`reads ${JSON.stringify(text)}, and formatAddress writes it`, () => {
      expect(parseAddress(text)).toEqual({ value: address })
      expect(formatAddress(address)).toBe(text.trim())
    })
  }

  for (const { name, text, problem } of bad) {
    it(`refuses ${name}`, () => expect(parseAddress(text)).toEqual({ problem: expect.stringContaining(problem) }))
  }

  it('never throws, and what it accepts it reads again from formatAddress', () => {
    const near = fc.tuple(fc.string({ maxLength: 12 }), fc.nat(70_000)).map(([host, port]) => `${host}:${port}`)
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), near, fc.webAuthority()), (text) => {
        const parsed = parseAddress(text)
        if ('value' in parsed) expect(parseAddress(formatAddress(parsed.value))).toEqual(parsed)
      }),
    )
  })
})

describe('ipMultiaddr and addressOf', () => {
  it('keep every IP address and port', () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), fc.nat(65_535), (host, port) => {
        const there = ipMultiaddr(host, port)
        const back = addressOf(there)
        expect(back?.port).toBe(port)
        expect(ipMultiaddr(back?.host ?? '', port).equals(there)).toBe(true)
      }),
    )
  })

  it('know nothing but TCP over IP', () => {
    expect(
      addressOf(ipMultiaddr('::1', 1).encapsulate('/p2p/12D3KooWGjMCx9E2w8cMtFgXBpmRXNRN8JmwyvcUz2aPwBLVQ4tT')),
    ).toEqual({ host: '::1', port: 1 })
  })
})

describe('resolveAddress', () => {
  const signal = new AbortController().signal
  it('gives IP addresses as they are', async () => {
    expect((await resolveAddress({ host: '::1', port: 5 }, signal)).map(String)).toEqual(['/ip6/::1/tcp/5'])
  })

  it('looks names up', async () => {
    const found = (await resolveAddress({ host: 'localhost', port: 5 }, signal)).map(String)
    expect(found.filter((text) => ['/ip4/127.0.0.1/tcp/5', '/ip6/::1/tcp/5'].includes(text))).toEqual(found)
    expect(found.length).toBeGreaterThan(0)
  })

  it('says when a name has no address', async () => {
    const unreachable = expect.objectContaining({ code: 'ERR_PEER_UNREACHABLE' })
    await expect(resolveAddress({ host: 'nothing.invalid', port: 5 }, signal)).rejects.toEqual(unreachable)
  })

  it('ends with the reason of an aborted signal', async () => {
    const reason = new Error('enough')
    await expect(resolveAddress({ host: 'localhost', port: 5 }, AbortSignal.abort(reason))).rejects.toBe(reason)
  })
})
