import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ERROR_CODES, type ErrorCode } from '../../src/core/errors.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type Hash } from '../../src/core/ids.ts'
import { type HolderKey } from '../../src/core/keys.ts'
import { u64, unixSeconds } from '../../src/core/u64.ts'
import { type CapacityMatch, checkReceipt, hashOfText, matchJson, parseReceipt } from '../../src/offers/index.ts'
import { ALICE, BOB, CAROL, fileWith, parsed, signingWith, temporaryFolder } from './artefact-files.ts'
import { type Ended, runLine } from './fake-io.ts'

const MATCH: CapacityMatch = {
  provider: ALICE.id,
  consumer: BOB.id,
  kind: 'LocalHardware',
  model: 'llama',
  units: u64(10),
  totalPrice: u64(50),
  matchRef: 'ab'.repeat(32) as Hash,
}

function matchFile(changes: Partial<CapacityMatch> = {}): string {
  return fileWith(writeExactJson(matchJson({ ...MATCH, ...changes })))
}

function make(signer: HolderKey, units = '3', match = matchFile()): Promise<Ended> {
  const files = ['--match', match, '--request', fileWith('häufig'), '--response', fileWith('')]
  return runLine(['receipt', 'make', ...files, '--units', units], signingWith(signer))
}

function countersign(signer: HolderKey, draft: string, ...more: readonly string[]): Promise<Ended> {
  return runLine(['receipt', 'countersign', ...more], signingWith(signer), draft)
}

async function whole(): Promise<string> {
  return (await countersign(ALICE, (await make(BOB)).stdout)).stdout
}

function expectRefusal({ status, stdout, stderr }: Ended, code: ErrorCode): void {
  expect([status, stdout]).toEqual([ERROR_CODES[code].exit, ''])
  expect(stderr).toContain(`  ${code}: `)
}

describe('receipt make', () => {
  for (const [party, signer] of [
    ['provider', ALICE],
    ['consumer', BOB],
  ] as const) {
    it(`signs as the ${party} when the key is theirs, over hashes of both texts`, async () => {
      const { status, stdout, stderr } = await make(signer)
      expect([status, stderr]).toEqual([0, ''])
      const receipt = parseReceipt(stdout)
      checkReceipt(receipt, [party], { now: unixSeconds(Date) })
      expect(Object.keys(receipt.signatures)).toEqual([party])
      expect(receipt.body).toMatchObject({
        unitsConsumed: 3n,
        matchRef: MATCH.matchRef,
        requestHash: hashOfText('häufig'),
        responseHash: hashOfText(''),
      })
    })
  }

  it('refuses a key that is of neither party', async () => {
    expectRefusal(await make(CAROL), 'ERR_USAGE')
  })

  for (const units of ['0', '11', '-1', '3.0', 'many']) {
    it(`refuses ${units} units of ten`, async () => {
      expectRefusal(await make(BOB, `${units}`.replace('-', ' -')), 'ERR_USAGE')
    })
  }

  it('refuses a match of one with oneself', async () => {
    expectRefusal(await make(ALICE, '3', matchFile({ consumer: ALICE.id })), 'ERR_ARTEFACT_INVALID')
  })

  it('refuses what is no match', async () => {
    for (const text of ['', '{', '[]', '{}', 'x']) {
      expectRefusal(await make(BOB, '3', fileWith(text)), 'ERR_ARTEFACT_INVALID')
    }
    expectRefusal(await make(BOB, '3', temporaryFolder()), 'ERR_USAGE')
  })

  it('names all the options that are missing', async () => {
    const { status, stderr } = await runLine(['receipt', 'make', '--units', '1'], signingWith(BOB))
    expect(status).toBe(ERROR_CODES.ERR_USAGE.exit)
    expect(stderr).toContain('expected --match, --request, --response;')
  })

  it('takes one file from stdin, and no two', async () => {
    const match = writeExactJson(matchJson(MATCH))
    const files = ['--request', fileWith('a'), '--response', fileWith('b'), '--units', '1']
    const { status } = await runLine(['receipt', 'make', '--match', '-', ...files], signingWith(BOB), match)
    expect(status).toBe(0)
    const two = ['--match', '-', '--request', '-', '--response', fileWith('b'), '--units', '1']
    expectRefusal(await runLine(['receipt', 'make', ...two], signingWith(BOB), match), 'ERR_USAGE')
  })
})

describe('receipt countersign', () => {
  it('adds the signature that is missing, whoever signed first', async () => {
    for (const [first, second] of [
      [ALICE, BOB],
      [BOB, ALICE],
    ] as const) {
      const { status, stdout } = await countersign(second, (await make(first)).stdout, '--match', matchFile())
      expect(status).toBe(0)
      checkReceipt(parseReceipt(stdout), ['provider', 'consumer'], { now: unixSeconds(Date) })
    }
  })

  it('writes into a file', async () => {
    const file = join(temporaryFolder(), 'receipt.json')
    const { stdout } = await countersign(ALICE, (await make(BOB)).stdout, '--out', file)
    expect(stdout).toBe('')
    expect(Object.keys(parseReceipt(readFileSync(file, 'utf8')).signatures)).toHaveLength(2)
  })

  const refusals: readonly (readonly [string, HolderKey, (draft: string) => string, ErrorCode])[] = [
    ['a key of neither party', CAROL, (draft) => draft, 'ERR_USAGE'],
    ['the key that signed', BOB, (draft) => draft, 'ERR_USAGE'],
    [
      'units changed since',
      ALICE,
      (draft) => draft.replace('"units_consumed":3', '"units_consumed":2'),
      'ERR_SIGNATURE_INVALID',
    ],
    ['no signature', ALICE, (draft) => draft.replace('"consumer_sig"', '"other"'), 'ERR_ARTEFACT_INVALID'],
    ['two receipts', ALICE, (draft) => draft + draft, 'ERR_ARTEFACT_INVALID'],
    ['half a receipt', ALICE, (draft) => draft.slice(0, 99), 'ERR_ARTEFACT_INVALID'],
  ]
  for (const [name, signer, change, code] of refusals) {
    it(`refuses ${name}`, async () => {
      expectRefusal(await countersign(signer, change((await make(BOB)).stdout)), code)
    })
  }

  it('refuses a receipt that is for another match', async () => {
    const draft = (await make(BOB)).stdout
    expectRefusal(await countersign(ALICE, draft, '--match', matchFile({ units: u64(2) })), 'ERR_ARTEFACT_INVALID')
  })
})

describe('receipt verify', () => {
  it('prints one line when both parties signed', async () => {
    const receipt = await whole()
    const { issuedAt } = parseReceipt(receipt).body
    expect(await runLine(['receipt', 'verify', fileWith(receipt), '--match', matchFile()])).toEqual({
      status: 0,
      stdout: `valid  provider=${ALICE.id}  consumer=${BOB.id}  units=3  match_ref=${MATCH.matchRef}  issued_at=${issuedAt}\n`,
      stderr: '',
    })
    const json = parsed((await runLine(['receipt', 'verify', '--json'], {}, receipt)).stdout)
    expect(json).toMatchObject({ index: 1n, valid: true, provider: ALICE.id, consumer: BOB.id, units_consumed: 3n })
  })

  it('refuses one signature for two', async () => {
    for (const signer of [ALICE, BOB]) {
      expectRefusal(await runLine(['receipt', 'verify'], {}, (await make(signer)).stdout), 'ERR_ARTEFACT_INVALID')
    }
  })

  it('refuses signatures that are exchanged', async () => {
    const swapped = (await whole())
      .replace('provider_sig', 'x')
      .replace('consumer_sig', 'provider_sig')
      .replace('"x"', '"consumer_sig"')
    expectRefusal(await runLine(['receipt', 'verify'], {}, swapped), 'ERR_SIGNATURE_INVALID')
  })

  const others: readonly (readonly [string, Partial<CapacityMatch>])[] = [
    ['reference', { matchRef: 'cd'.repeat(32) as Hash }],
    ['provider', { provider: CAROL.id }],
    ['consumer', { consumer: CAROL.id }],
    ['kind', { kind: 'CloudApiQuota' }],
    ['model', { model: 'mistral' }],
    ['number of units', { units: u64(2) }],
  ]
  for (const [name, changes] of others) {
    it(`refuses a receipt for a match with another ${name}`, async () => {
      expectRefusal(
        await runLine(['receipt', 'verify', '--match', matchFile(changes)], {}, await whole()),
        'ERR_ARTEFACT_INVALID',
      )
    })
  }

  it('verifies many', async () => {
    const text = `${await whole()}${(await make(BOB)).stdout}`
    const { status, stdout } = await runLine(['receipt', 'verify'], {}, text)
    expect(status).toBe(ERROR_CODES.ERR_ARTEFACT_INVALID.exit)
    expect(stdout).toMatch(/^document 2: ERR_ARTEFACT_INVALID .*\n1 valid, 1 invalid\n$/)
  })
})
