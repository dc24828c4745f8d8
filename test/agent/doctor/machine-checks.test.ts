import { type NetworkInterfaceInfo } from 'node:os'
import { describe, expect, it } from 'vitest'
import { checkIpv6, checkNetwork, checkNode, checkSettings } from '../../../src/agent/doctor/machine-checks.ts'
import { CtError } from '../../../src/core/errors.ts'

function interfaces(...addresses: readonly string[]): Record<string, NetworkInterfaceInfo[]> {
  return {
    all: addresses.map(
      (address) => ({ address, internal: address === '::1' || address.startsWith('127.') }) as NetworkInterfaceInfo,
    ),
  }
}

const at = (...hosts: readonly string[]) => hosts.map((host) => ({ host, port: 1 }))
const [V4, V6] = ['192.0.2.1', '2001:db8::1']

describe('the doctor, of this machine', () => {
  for (const [version, code] of [
    ['v22.18.0', 'node.ok'],
    ['v24.0.0', 'node.ok'],
    ['v22.17.9', 'node.too_old'],
    ['v18.20.0', 'node.too_old'],
  ] as const) {
    it(`finds ${code} for Node ${version}`, () => {
      expect(checkNode(version).code).toBe(code)
    })
  }

  for (const [code, own, wanted] of [
    ['ipv6.ok', [V4, V6], [V6]],
    ['ipv6.none', [V4], []],
    ['ipv6.none', [V4], [V4, V6]],
    ['ipv6.none', [V4], ['::1']],
    ['ipv6.none', [V4, 'fe80::1', '::1'], ['agent.example.org']],
    ['ipv6.needed', [V4], [V6, '2001:db8::2']],
    ['ipv6.needed', [V4, 'fe80::1'], [V6]],
    ['ipv6.only', [V6], [V4]],
    ['ipv6.ok', [V6], [V4, 'agent.example.org']],
  ] as const) {
    it(`finds ${code} with ${own.join(', ')} for ${wanted.join(', ') || 'nobody'}`, () => {
      expect(checkIpv6(interfaces(...own), at(...wanted)).code).toBe(code)
    })
  }

  it('finds that it has no network', () => {
    expect(checkNetwork(interfaces('127.0.0.1', '::1', '169.254.1.1', 'fe80::1')).code).toBe('network.none')
    expect(checkNetwork(interfaces('127.0.0.1', V4)).code).toBe('network.ok')
  })

  it('finds all that is wrong with the settings at once', () => {
    const problems = [{ name: 'CT_LOG_LEVEL', message: 'CT_LOG_LEVEL invalid' }]
    const trouble = new CtError('ERR_CONFIG_INVALID', 'cannot read x')
    const env = { CT_LOG_LEVL: '1', CT_CALL_ID: 'x', HOME: '/' }
    expect(checkSettings(env, problems, trouble)).toMatchObject([
      { code: 'settings.file', error: 'ERR_CONFIG_INVALID' },
      { code: 'settings.invalid' },
      { code: 'settings.unknown', message: expect.stringContaining('CT_LOG_LEVEL') as string },
    ])
    expect(checkSettings({ CT_LOG_LEVEL: 'info' }, [], undefined)).toMatchObject([{ code: 'settings.ok' }])
  })
})
