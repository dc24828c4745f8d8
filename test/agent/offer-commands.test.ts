import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES, type ErrorCode } from '../../src/core/errors.ts'
import { U64_MAX, unixSeconds } from '../../src/core/u64.ts'
import { openOffer, parseOffer } from '../../src/offers/index.ts'
import { ALICE, BOB, fileWith, parsed, signingWith, temporaryFolder } from './artefact-files.ts'
import { type Ended, runLine } from './fake-io.ts'

const FLAGS = [
  '--offer-kind',
  'local',
  '--offer-models',
  'llama,mistral',
  '--offer-units',
  '18446744073709551615',
  '--offer-min-price',
  '9007199254740993',
  '--offer-currency',
  'EUR',
]

function make(...more: readonly string[]): Promise<Ended> {
  return runLine(['offer', 'make', ...FLAGS, ...more], signingWith(ALICE))
}

describe('offer make', () => {
  it('prints an offer that verifies, to the last digit', async () => {
    const { status, stdout, stderr } = await make('--offer-services', 'safety_check,lint', '--offer-ttl', '10')
    expect([status, stderr]).toEqual([0, ''])
    const { body } = openOffer(parseOffer(stdout), { now: unixSeconds(Date) })
    expect(body).toMatchObject({
      holder: ALICE.id,
      kind: 'LocalHardware',
      models: ['llama', 'mistral'],
      units: U64_MAX,
      minPrice: 9_007_199_254_740_993n,
      services: ['SafetyCheck', { Custom: 'lint' }],
    })
    expect(body.expiresAt - body.issuedAt).toBe(10n)
  })

  it('reads the same from the environment', async () => {
    const { stdout } = await runLine(['offer', 'make'], {
      ...signingWith(BOB),
      CT_AGENT_OFFER_KIND: 'cloud',
      CT_AGENT_OFFER_MODELS: 'm',
      CT_AGENT_OFFER_UNITS: '1',
      CT_AGENT_OFFER_MIN_PRICE: '0',
      CT_AGENT_OFFER_CURRENCY: 'USD',
    })
    expect(parseOffer(stdout).body).toMatchObject({ holder: BOB.id, kind: 'CloudApiQuota', services: [] })
  })

  it('names every setting that is missing, and makes no half offer', async () => {
    const { status, stdout, stderr } = await runLine(['offer', 'make'], signingWith(ALICE))
    expect([status, stdout]).toEqual([ERROR_CODES.ERR_CONFIG_INVALID.exit, ''])
    for (const name of ['KIND', 'MODELS', 'UNITS', 'MIN_PRICE', 'CURRENCY']) {
      expect(stderr).toContain(`CT_AGENT_OFFER_${name} required`)
    }
    const half = await runLine(['offer', 'make', '--offer-kind', 'local'], signingWith(ALICE))
    expect([half.status, half.stdout]).toEqual([ERROR_CODES.ERR_CONFIG_INVALID.exit, ''])
  })

  it('makes no offer of which a buyer could not tell what is served', async () => {
    const { status, stdout, stderr } = await make('--offer-services', 'Static-Analysis,static_analysis')
    expect([status, stdout]).toEqual([ERROR_CODES.ERR_CONFIG_INVALID.exit, ''])
    expect(stderr).toContain('CT_AGENT_OFFER_SERVICES invalid')
    expect(stderr).toContain('are both service/static_analysis; rename one')
  })

  it('makes no offer that no reader would take', async () => {
    const { status, stdout } = await make('--offer-currency', 'x'.repeat(65_537))
    expect([status, stdout]).toEqual([ERROR_CODES.ERR_ARTEFACT_INVALID.exit, ''])
  })
})

describe('offer verify', () => {
  it('prints one line for a valid offer', async () => {
    const file = join(temporaryFolder(), 'offer.json')
    await make('--out', file)
    const { status, stdout, stderr } = await runLine(['offer', 'verify', file])
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toMatch(
      new RegExp(
        `^valid  holder=${ALICE.id}  kind=LocalHardware  models=\\["llama", "mistral"\\]  units=18446744073709551615  min_price=9007199254740993  currency="EUR"  expires_at=\\d+\\n$`,
      ),
    )
  })

  const refusals: readonly (readonly [string, (text: string) => string, ErrorCode])[] = [
    ['other units', (text) => text.replace(':18446744073709551615', ':18446744073709551614'), 'ERR_SIGNATURE_INVALID'],
    ['units beyond 64 bits', (text) => text.replace('551615', '551616'), 'ERR_ARTEFACT_INVALID'],
    ['units as a text', (text) => text.replace(':18446744073709551615', ':"1"'), 'ERR_ARTEFACT_INVALID'],
    ['a service more', (text) => text.replace('"services":[', '"services":["SafetyCheck"'), 'ERR_SIGNATURE_INVALID'],
    ['a key of letters', (text) => text.replace(ALICE.id, 'é'.repeat(64)), 'ERR_ARTEFACT_INVALID'],
    ['another holder', (text) => text.replace(ALICE.id, BOB.id), 'ERR_SIGNATURE_INVALID'],
  ]
  for (const [name, change, code] of refusals) {
    it(`refuses an offer with ${name}`, async () => {
      const { stdout: offer } = await make()
      const { status, stdout, stderr } = await runLine(['offer', 'verify'], {}, change(offer))
      expect([status, stdout]).toEqual([ERROR_CODES[code].exit, ''])
      expect(stderr).toContain(`  ${code}: `)
    })
  }

  it('refuses a card', async () => {
    const card = await runLine(['card', 'make', '--roles', 'a'], signingWith(ALICE))
    const { status } = await runLine(['offer', 'verify'], {}, card.stdout)
    expect(status).toBe(ERROR_CODES.ERR_ARTEFACT_INVALID.exit)
  })

  it('verifies many, as lines and as JSON', async () => {
    const { stdout: offer } = await make()
    const text = `${offer}${offer.replace('"EUR"', '"USD"')}${offer}`
    const lines = await runLine(['offer', 'verify', fileWith(text)])
    expect(lines.status).toBe(ERROR_CODES.ERR_SIGNATURE_INVALID.exit)
    expect(lines.stdout).toMatch(/^document 2: ERR_SIGNATURE_INVALID .*\n2 valid, 1 invalid\n$/)
    const json = await runLine(['offer', 'verify', '--json'], {}, text)
    expect(json.stdout.trimEnd().split('\n').map(parsed)).toMatchObject([
      { index: 1n, valid: true, holder: ALICE.id },
      { index: 2n, valid: false, code: 'ERR_SIGNATURE_INVALID' },
      { index: 3n, valid: true, holder: ALICE.id },
    ])
  })
})

describe('offer show', () => {
  it('shows all fields, and exits with the verdict', async () => {
    const { stdout: offer } = await make('--offer-services', 'lint')
    const shown = await runLine(['offer', 'show'], {}, offer)
    expect(shown.status).toBe(0)
    for (const part of ['capacity offer: valid', ALICE.id, 'llama', 'mistral', '9007199254740993 EUR', 'lint']) {
      expect(shown.stdout).toContain(part)
    }
    const changed = await runLine(['offer', 'show'], {}, offer.replace('"EUR"', '"USD"'))
    expect(changed.status).toBe(ERROR_CODES.ERR_SIGNATURE_INVALID.exit)
    expect(changed.stdout).toContain('9007199254740993 USD')
  })
})
