import { describe, expect, it } from 'vitest'
import { EventBudget } from '../../../src/mcp/http/event-budget.ts'
import { EventStream } from '../../../src/mcp/http/event-stream.ts'
import { FakeClock } from '../fake-clock.ts'
import { HttpStage } from './stage.ts'

const HALF_HOUR = 1_800_000

describe('the sessions of the gateway', () => {
  it('are never more than a bound, and those in use stay', async () => {
    const stage = new HttpStage({}, { maxSessions: 4 })
    const listening = await stage.begin()
    await stage.listen(listening)
    const waiting = await stage.begin()
    const answer = stage.link
    const reply = await stage.call(waiting)
    const used = await stage.begin()
    await stage.ask({ headers: used, body: { jsonrpc: '2.0', method: 'notifications/initialized' } })
    for (let count = 0; count < 100; count += 1) await stage.begin()
    expect(stage.endpoint.sessions).toBe(4)
    expect(stage.links.filter(({ closedWith }) => closedWith === 'ERR_PEER_BUSY')).toHaveLength(99)
    expect((await stage.call(used)).status).toBe(0)
    answer.answer(1)
    expect(reply.json).toMatchObject({ result: {} })
  })

  it('are refused when all are in use', async () => {
    const stage = new HttpStage({}, { maxSessions: 2 })
    for (const _ of [1, 2]) await stage.listen(await stage.begin())
    const reply = await stage.ask({ body: { jsonrpc: '2.0', id: 5, method: 'initialize', params: {} } })
    expect([reply.status, reply.headers['retry-after']]).toEqual([503, '5'])
    expect(reply.json).toMatchObject({ id: 5, error: { data: { code: 'ERR_PEER_BUSY', retryable: true } } })
  })

  it('end when nobody used them for half an hour, unless somebody listens', async () => {
    const stage = new HttpStage()
    const [idle, used, heard] = [await stage.begin(), await stage.begin(), await stage.begin()]
    await stage.listen(heard)
    stage.clock.advance(HALF_HOUR - 1_000)
    await stage.ask({ headers: used, body: { jsonrpc: '2.0', method: 'notifications/initialized' } })
    stage.clock.advance(30_000)
    expect(stage.endpoint.sessions).toBe(2)
    const ask = async (session: typeof idle) => (await stage.call(session)).status
    expect([await ask(idle), await ask(used), await ask(heard)]).toEqual([404, 0, 0])
    expect(stage.links[0]?.closedWith).toBe('ERR_SESSION_IDLE')
  })

  it('are refused beyond so many POSTs at once, which have room again when they end', async () => {
    const stage = new HttpStage()
    const session = await stage.begin()
    const replies = []
    for (let count = 0; count < 1_024; count += 1) replies.push(await stage.call(session, count))
    expect((await stage.call(session)).status).toBe(503)
    stage.link.answer(1)
    replies[1]?.leave()
    expect((await stage.call(session)).status).toBe(0)
    expect((await stage.call(session)).status).toBe(0)
    expect((await stage.call(session)).status).toBe(503)
  })
})

describe('what is kept for clients that may come back', () => {
  const stream = (budget: EventBudget, name?: string) => new EventStream({ name, budget, clock: new FakeClock() })

  it('stays within the bounds of the session and of all, and what is over goes first', () => {
    const all = new EventBudget(100)
    const [mine, others] = [new EventBudget(60, all), new EventBudget(60, all)]
    const [live, over, newest, foreign] = [stream(mine, 'a'), stream(mine, 'b'), stream(mine, 'c'), stream(others, 'd')]
    const kept = () => [live, over, newest, foreign].map((one) => one.keepsAfter(0))
    live.push('x'.repeat(30))
    over.push('x'.repeat(20))
    over.finish()
    newest.push('x'.repeat(20))
    expect([mine.total, ...kept()]).toEqual([50, true, false, true, true])
    foreign.push('x'.repeat(55))
    expect([all.total, mine.total, ...kept()]).toEqual([75, 20, false, false, true, true])
    newest.forget()
    foreign.forget()
    expect([all.total, mine.total, others.total]).toEqual([0, 0, 0])
  })

  it('is nothing where nobody can come back', () => {
    const budget = new EventBudget(100)
    const brief = stream(budget)
    brief.push('x')
    expect(budget.total).toBe(0)
  })
})
