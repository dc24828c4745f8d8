import { existsSync, readFileSync, statSync } from 'node:fs'
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

  it('prints the receipt after the result with -', async ({ stage }) => {
    const call = await buy(stage, await startSeller(stage))
    const { status, stdout, stderr } = await call('-')
    expect([status, stderr]).toEqual([0, ''])
    const [result, receipt = '', end] = stdout.split('\n')
    expect([result, end]).toEqual(['über', ''])
    checkReceipt(parseReceipt(receipt), ['provider', 'consumer'], { now: unixSeconds(systemClock) })
  })

  it('calls nothing when there could be no receipt, or no place for one', async ({ stage }) => {
    const file = stage.path('runs')
    const env = { ...SELLING, ...stateOf(stage, 'seller'), CT_AGENT_SERVICE_HANDLER_CMD: `echo run >>'${file}'; cat` }
    const ticket = await stage.start(['serve', '--listen', '127.0.0.1:0'], { env }).line()
    const call = await buy(stage, ticket)
    const nowhere = await call('nowhere/r.json')
    expect(nowhere).toMatchObject({ status: 2, stdout: '' })
    expect(nowhere.stderr).toContain('cannot write "nowhere/r.json"')
    const ping = ['call', ticket, 'ping', '{"input":"x"}', '--match', 'purchase/match.json', '--receipt', 'r.json']
    expect(await stage.finish(ping, { env: stateOf(stage, 'buyer') })).toMatchObject({ status: 2, stdout: '' })
    expect(existsSync(file)).toBe(false)
  })

  it('lets an agent buy from itself with a key that it keeps for that', async ({ stage }) => {
    const ticket = await startSeller(stage)
    const env = stateOf(stage, 'seller')
    const bid = ['--bid', '--units', '60', '--price', '600', '--save', 'purchase']
    expect(await stage.finish(['offer', 'fetch', ticket, ...bid], { env })).toMatchObject({ status: 0, stderr: '' })
    const again = ['--submit', 'purchase/bid.json', '--save', 'purchase']
    expect(await stage.finish(['offer', 'fetch', ticket, ...again], { env })).toMatchObject({ status: 0, stderr: '' })
    const call = ['call', ticket, 'service/safety_check', '{"input":"x"}', '--match', 'purchase/match.json']
    const ended = await stage.finish([...call, '--receipt', 'r.json'], { env })
    expect(ended).toEqual({ status: 0, stdout: 'x\n', stderr: '' })
    const { body } = parseReceipt(readFileSync(stage.path('r.json'), 'utf8'))
    expect(body.consumer).not.toBe(body.provider)
    expect(statSync(stage.path('seller/caller.key')).mode & 0o777).toBe(0o600)
  })
})
