import { describe, expect, it } from 'vitest'
import { open } from '../../src/core/artefact.ts'
import { ERROR_CODES } from '../../src/core/errors.ts'
import { U64_MAX, unixSeconds } from '../../src/core/u64.ts'
import { CAPACITY_BID, parseBid } from '../../src/offers/index.ts'
import { ALICE, signingWith } from './artefact-files.ts'
import { runLine } from './fake-io.ts'

const GOOD: Readonly<Record<string, string>> = {
  ...signingWith(ALICE),
  CT_BID_KIND: 'local',
  CT_BID_MODEL: 'llama',
  CT_BID_UNITS: '18446744073709551615',
  CT_BID_PRICE: '0',
}

describe('bid make', () => {
  it('prints a bid that its bidder signed, for five minutes', async () => {
    const { status, stdout, stderr } = await runLine(['bid', 'make'], GOOD)
    expect([status, stderr]).toEqual([0, ''])
    const { body } = open(CAPACITY_BID, parseBid(stdout), { signer: ALICE.id, now: unixSeconds(Date) })
    expect(body).toMatchObject({
      bidder: ALICE.id,
      kind: 'LocalHardware',
      model: 'llama',
      units: U64_MAX,
      totalPrice: 0n,
      termsAck: '0'.repeat(64),
      service: undefined,
    })
    expect(body.expiresAt - body.issuedAt).toBe(300n)
  })

  it('lets flags win over the environment', async () => {
    const flags = {
      kind: 'cloud',
      model: 'mistral',
      units: '2',
      price: '3',
      service: 'code_generation',
      ttl: '4',
      terms: 'AB'.repeat(32),
    }
    const argv = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
    const { body } = parseBid((await runLine(['bid', 'make', ...argv], GOOD)).stdout)
    expect(body).toMatchObject({
      kind: 'CloudApiQuota',
      model: 'mistral',
      units: 2n,
      totalPrice: 3n,
      service: 'CodeGeneration',
      termsAck: 'ab'.repeat(32),
    })
    expect(body.expiresAt - body.issuedAt).toBe(4n)
  })

  it('names every setting that is missing', async () => {
    const { status, stdout, stderr } = await runLine(['bid', 'make'], signingWith(ALICE))
    expect([status, stdout]).toEqual([ERROR_CODES.ERR_CONFIG_INVALID.exit, ''])
    for (const name of ['KIND', 'MODEL', 'UNITS', 'PRICE']) expect(stderr).toContain(`CT_BID_${name} required`)
  })

  const mistakes: readonly (readonly [string, string])[] = [
    ['CT_BID_KIND', 'gpu'],
    ['CT_BID_UNITS', '0'],
    ['CT_BID_UNITS', '1.5'],
    ['CT_BID_UNITS', '18446744073709551616'],
    ['CT_BID_PRICE', '-1'],
    ['CT_BID_TTL_SECS', '0'],
    ['CT_BID_TERMS', 'ab'],
  ]
  for (const [name, value] of mistakes) {
    it(`refuses ${value} in ${name}, once`, async () => {
      const { status, stdout, stderr } = await runLine(['bid', 'make'], { ...GOOD, [name]: value })
      expect([status, stdout]).toEqual([ERROR_CODES.ERR_CONFIG_INVALID.exit, ''])
      expect(stderr.match(/CT_BID_/g)).toEqual(['CT_BID_'])
      expect(stderr).toContain(`${name} invalid`)
    })
  }
})
