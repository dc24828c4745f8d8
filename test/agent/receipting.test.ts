import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { keepReceipt, obtainReceipt, type ReceiptWish, readReceiptWish } from '../../src/agent/buying/receipting.ts'
import { type Caller } from '../../src/agent/calling/caller.ts'
import { CtError, isCtError } from '../../src/core/errors.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { u64 } from '../../src/core/u64.ts'
import { matchJson, matchOf } from '../../src/offers/clearing.ts'
import { parseReceipt } from '../../src/offers/receipt.ts'
import { bidOf } from '../offers/selling.ts'
import { START, terms } from '../offers/settings.ts'
import { buyer, seller } from '../offers/signed.ts'
import { fileWith, temporaryFolder } from './artefact-files.ts'
import { fakeIo } from './fake-io.ts'

const life = { issuedAt: u64(START), expiresAt: u64(START + 60) }
const match = matchOf({ holder: seller.id, ...terms, ...life }, bidOf().body)
const TOOL = 'service/safety_check'

function refusing(error: CtError): Caller {
  return { call: () => Promise.reject(error) } as Partial<Caller> as Caller
}

function ends(controller = new AbortController()) {
  return { peer: seller.id, self: buyer, signal: controller.signal }
}

function wish(file: string): ReceiptWish {
  return { file, match, units: u64(2), input: 'in' }
}

async function codeOf(work: Promise<unknown>): Promise<readonly [string, string]> {
  try {
    await work
    return ['', '']
  } catch (error) {
    if (isCtError(error)) return [error.code, error.message]
    throw error
  }
}

describe('readReceiptWish', () => {
  const read = (values: Readonly<Record<string, string>>, tool = TOOL, input: string | null = 'in', stdin = '') =>
    readReceiptWish(
      { io: fakeIo({ input: stdin }).io, values: new Map(Object.entries(values)) },
      tool,
      input === null ? {} : { input },
    )
  const matchFile = () => fileWith(writeExactJson(matchJson(match)), 'match.json')

  it('wishes for nothing without --receipt', async () => {
    expect(await read({})).toBeUndefined()
  })

  it('takes the match from a file or from stdin, and one unit unless told', async () => {
    const text = writeExactJson(matchJson(match))
    expect(await read({ receipt: '-', match: matchFile() })).toEqual({ file: '-', match, units: 1n, input: 'in' })
    expect(await read({ receipt: '-', match: '-', units: '3' }, TOOL, 'in', text)).toMatchObject({ match, units: 3n })
  })

  it('leaves alone what is where the receipt will be', async () => {
    const receipt = join(temporaryFolder(), 'r.json')
    await read({ receipt, match: matchFile() })
    writeFileSync(receipt, 'old')
    await read({ receipt, match: matchFile() })
    expect([readFileSync(receipt, 'utf8'), readdirSync(join(receipt, '..'))]).toEqual(['old', ['r.json']])
  })

  const refusals: readonly (readonly [string, () => ReturnType<typeof read>, string, string])[] = [
    ['a tool that is no service', () => read({ receipt: '-', match: matchFile() }, 'ping'), 'ERR_USAGE', '"ping"'],
    ['no input', () => read({ receipt: '-', match: matchFile() }, TOOL, null), 'ERR_USAGE', 'input'],
    ['half a character', () => read({ receipt: '-', match: matchFile() }, TOOL, '\ud800'), 'ERR_USAGE', 'Unicode'],
    ['no match', () => read({ receipt: '-' }), 'ERR_USAGE', '--match'],
    ['a bad match', () => read({ receipt: '-', match: fileWith('{}') }), 'ERR_ARTEFACT_INVALID', 'file.json": '],
    ['a bad match on stdin', () => read({ receipt: '-', match: '-' }), 'ERR_ARTEFACT_INVALID', 'stdin: '],
    ['too many units', () => read({ receipt: '-', match: matchFile(), units: '201' }), 'ERR_USAGE', '1 to 200'],
    [
      'a receipt in a folder that is not there',
      () => read({ receipt: join(temporaryFolder(), 'a', 'r.json'), match: matchFile() }),
      'ERR_USAGE',
      'cannot write',
    ],
    [
      'a receipt that is a folder',
      () => read({ receipt: temporaryFolder(), match: matchFile() }),
      'ERR_USAGE',
      'folder',
    ],
  ]
  for (const [name, work, code, words] of refusals) {
    it(`refuses ${name} before anything is called`, async () => {
      expect(await codeOf(work())).toEqual([code, expect.stringContaining(words)])
    })
  }
})

describe('obtainReceipt', () => {
  const options = { now: u64(START) }

  it('says that it was the signal when one came, and that the call is done', async () => {
    const controller = new AbortController()
    controller.abort(new CtError('ERR_CALL_CANCELLED', 'stopped by SIGINT'))
    const caller = refusing(new CtError('ERR_CALL_OUTCOME_UNKNOWN', 'it may have run'))
    const outcome = await obtainReceipt(caller, wish('-'), 'out', ends(controller), options)
    expect(outcome.problem).toMatchObject({
      code: 'ERR_RECEIPT_UNSIGNED',
      message: 'stopped by SIGINT while its signature was awaited',
    })
    const { io, stdout } = fakeIo()
    const [code, message] = await codeOf(keepReceipt(io, wish('-'), outcome))
    expect(code).toBe('ERR_RECEIPT_UNSIGNED')
    expect(message).toMatch(
      /^the call is done, but its receipt has your signature alone: stopped by SIGINT .* on stdout$/,
    )
    expect(Object.keys(parseReceipt(stdout.text).signatures)).toEqual(['consumer'])
  })

  it('says that the call is done when no answer came', async () => {
    const caller = refusing(new CtError('ERR_CALL_TIMEOUT', 'too slow'))
    const { problem } = await obtainReceipt(caller, wish('-'), 'out', ends(), options)
    expect(problem).toMatchObject({ code: 'ERR_RECEIPT_UNSIGNED', message: expect.stringContaining('too slow') })
  })

  it('keeps the code of a peer that refuses', async () => {
    const error = new CtError('ERR_TOOL_FAILED', 'no')
    const caller = { call: async () => ({ text: '', error }) } as Partial<Caller> as Caller
    expect(await obtainReceipt(caller, wish('-'), 'out', ends(), options)).toMatchObject({ problem: error })
  })

  for (const [name, output] of [
    ['no text', undefined],
    ['no valid Unicode', '\ud800'],
  ] as const) {
    it(`has no receipt of an answer that is ${name}, and loses no answer over it`, async () => {
      const outcome = await obtainReceipt(refusing(new CtError('ERR_INTERNAL', '')), wish('-'), output, ends(), options)
      expect(outcome.receipt).toBeUndefined()
      const [code, message] = await codeOf(keepReceipt(fakeIo().io, wish('-'), outcome))
      expect(code).toMatch(/^ERR_(PROTOCOL|ARTEFACT_INVALID)$/)
      expect(message).toContain('the call is done, but there is no receipt for it')
    })
  }

  it('puts the receipt into the error when it cannot be written any more', async () => {
    const outcome = await obtainReceipt(refusing(new CtError('ERR_TIMEOUT', '')), wish('-'), 'out', ends(), options)
    const path = join(temporaryFolder(), 'r.json')
    mkdirSync(path)
    const [code, message] = await codeOf(keepReceipt(fakeIo().io, wish(path), outcome))
    expect(code).toBe('ERR_USAGE')
    const [words, text = ''] = message.split('\n')
    expect(words).toMatch(/^the call is done, but cannot write .*; this is a draft of its receipt/)
    expect(parseReceipt(text)).toEqual(outcome.receipt)
  })
})
