import { type NetworkInterfaceInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { ownNetworks } from '../../../src/channel/punching/neighbours.ts'

function card(cidr: string, internal = false): NetworkInterfaceInfo {
  const [address = ''] = cidr.split('/')
  const base = { address, netmask: '', mac: '', internal, cidr }
  return address.includes(':') ? { ...base, family: 'IPv6', scopeid: 0 } : { ...base, family: 'IPv4' }
}

const networks = ownNetworks({
  lo: [card('127.0.0.1/8', true)],
  eth0: [card('192.168.1.2/24'), card('2001:db8:1::2/64')],
  vpn: [card('10.0.0.2/8')],
})

describe('ownNetworks', () => {
  it.each([
    ['192.168.1.3', true],
    ['192.168.2.3', false],
    ['2001:db8:1::3', true],
    ['2001:db8:2::3', false],
    ['192.168.1.2', false],
    ['127.0.0.2', false],
    ['10.0.0.3', false],
    ['printer.local', false],
  ])('tells whether %s is a neighbour: %s', (host, expected) => {
    expect(networks.isNeighbour(host)).toBe(expected)
  })

  it.each([
    ['192.168.1.2', true],
    ['10.0.0.2', true],
    ['127.0.0.1', false],
    ['203.0.113.5', false],
  ])('tells whether %s is one of its own: %s', (host, expected) => {
    expect(networks.has(host)).toBe(expected)
  })
})
