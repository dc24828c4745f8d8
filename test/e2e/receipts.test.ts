import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { systemClock } from '../../src/core/time.ts'
import { unixSeconds } from '../../src/core/u64.ts'
import { parseMatch } from '../../src/offers/clearing.ts'
import { checkReceipt, hashOfText, parseReceipt } from '../../src/offers/receipt.ts'
import { SELLING } from './seller.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

async function startSeller(stage: Stage): Promise<string> {
  return stage.start(['serve', '--listen', '127.0.0.1:0'], { env: { ...SELLING, ...stateOf(stage, 'seller') } }).line()
}

/** A buyer that has bought 60 units. */
async function buy(
  stage: Stage,
  ticket: string,
): Promise<(receipt: string, ...args: string[]) => ReturnType<Stage['finish']>> {
  const env = stateOf(stage, 'buyer')
  const bid = ['--bid', '--units', '60', '--price', '600', '--save', 'purchase']
  expect(await stage.finish(['offer', 'fetch', ticket, ...bid], { env })).toMatchObject({ status: 0, stderr: '' })
  return (receipt, ...args) => {
    const call = ['call', ticket, 'service/safety_check', '{"input":"über"}', '--match', 'purchase/match.json']
    return stage.finish([...call, '--receipt', receipt, ...args], { env })
  }
}

describe.concurrent('ct-agent call --receipt', SLOW, () => {
  it('gets a receipt that both sides signed, over what went in and what came out', async ({ stage }) => {
    const call = await buy(stage, await startSeller(stage))
    expect(await call('r.json', '--units', '7')).toEqual({ status: 0, stdout: 'über\n', stderr: '' })
    const receipt = parseReceipt(readFileSync(stage.path('r.json'), 'utf8'))
    const match = parseMatch(readFileSync(stage.path('purchase/match.json'), 'utf8'))
    checkReceipt(receipt, ['provider', 'consumer'], { now: unixSeconds(systemClock) })
    expect(receipt.body).toMatchObject({
      matchRef: match.matchRef,
      provider: match.provider,
      consumer: match.consumer,
      unitsConsumed: 7n,
      requestHash: hashOfText('über'),
      responseHash: hashOfText('über'),
    })
  })

  it('gets none for more than was bought, over all calls, and keeps its own draft', async ({ stage }) => {
    const ticket = await startSeller(stage)
    const call = await buy(stage, ticket)
    expect((await call('r1.json', '--units', '50')).status).toBe(0)
    const ended = await call('r2.json', '--units', '11')
    expect(ended).toMatchObject({ status: 4, stdout: 'über\n' })
    expect(ended.stderr).toContain('expected at most 10 units')
    const draft = parseReceipt(readFileSync(stage.path('r2.json'), 'utf8'))
    expect(Object.keys(draft.signatures)).toEqual(['consumer'])
    expect((await call('r3.json', '--units', '10')).status).toBe(0)
  })
})
