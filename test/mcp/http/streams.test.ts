import { describe, expect, it } from 'vitest'
import { CtError } from '../../../src/core/errors.ts'
import { type FakeReply, HttpStage } from './stage.ts'

const CHANGED = { method: 'notifications/tools/list_changed' }

/** A session with a call whose stream has begun. */
async function streaming(version = '2025-11-25') {
  const stage = new HttpStage()
  const session = await stage.begin(version)
  const reply = await stage.call(session, 'x', { _meta: { progressToken: 't' } })
  stage.clock.advance(100)
  const { progressToken } = stage.link.params<{ _meta: { progressToken: string } }>(1)._meta
  let progress = 0
  const advance = () => {
    progress += 1
    stage.link.say({ method: 'notifications/progress', params: { progressToken, progress } })
  }
  return { stage, session, reply, advance }
}

const numbers = ({ events }: FakeReply) => events.map(({ id }) => id)

describe('a stream of events', () => {
  it('goes on where it was cut, with what was said meanwhile', async () => {
    const { stage, session, reply, advance } = await streaming()
    advance()
    reply.leave()
    advance()
    stage.link.answer(1, { done: true })
    expect(numbers(reply)).toEqual(['s1-1'])
    const again = await stage.listen(session, 's1-1')
    expect(numbers(again)).toEqual(['s1-2', 's1-3'])
    expect(again.messages.at(-1)).toEqual({ jsonrpc: '2.0', id: 'x', result: { done: true } })
    expect(again.isEnded).toBe(true)
  })

  it('can be come back to several times, and before the answer', async () => {
    const { stage, session, reply, advance } = await streaming()
    reply.leave()
    const first = await stage.listen(session, 's1-0')
    advance()
    const second = await stage.listen(session, 's1-0')
    expect([first.isEnded, numbers(first), numbers(second)]).toEqual([true, ['s1-1'], ['s1-1']])
    stage.link.answer(1)
    expect(second.messages).toHaveLength(2)
    expect(first.messages).toHaveLength(1)
  })

  it('tells who comes back for nothing not to come again', async () => {
    const { stage, session } = await streaming()
    stage.link.answer(1)
    expect((await stage.listen(session, 's1-1')).status).toBe(204)
    expect((await stage.listen(session, 's1-99')).status).toBe(204)
  })

  for (const last of ['', 's9-1', 'x', 's1', '-1', 'S1-1', `s1-${'9'.repeat(30)}`]) {
    it(`does not take ${last === '' ? 'nothing' : last} for an event of its own`, async () => {
      const { stage, session } = await streaming()
      expect((await stage.listen(session, last)).status).toBe(last === '' ? 200 : 400)
    })
  }

  it('is no other session’s to come back to', async () => {
    const { stage, advance } = await streaming()
    advance()
    const other = await stage.begin()
    expect((await stage.listen(other, 's1-0')).status).toBe(400)
  })

  it('is kept for a while after its end, and then no more', async () => {
    const { stage, session } = await streaming()
    stage.link.answer(1)
    stage.clock.advance(110_000)
    expect(numbers(await stage.listen(session, 's1-0'))).toEqual(['s1-1'])
    stage.clock.advance(120_000)
    expect((await stage.listen(session, 's1-0')).status).toBe(400)
  })

  it('keeps no more than a bound, and says so to who missed something', async () => {
    const { stage, session, reply, advance } = await streaming()
    reply.leave()
    for (let count = 0; count < 1_500; count += 1) advance()
    expect((await stage.listen(session, 's1-0')).status).toBe(400)
    const late = await stage.listen(session, 's1-500')
    expect([numbers(late)[0], numbers(late).length]).toEqual(['s1-501', 1_000])
  })

  it('shows that it is there every ten seconds', async () => {
    const { stage, reply } = await streaming()
    const before = reply.body
    stage.clock.advance(10_000)
    expect(reply.body).toBe(`${before}: \n\n`)
    stage.clock.advance(50_000)
    expect(reply.body).toBe(`${before}${': \n\n'.repeat(6)}`)
    expect(reply.events).toEqual([])
  })

  it('waits for a slow reader, cuts one off that takes nothing, and has what it missed', async () => {
    const { stage, session, reply, advance } = await streaming()
    reply.isFull = true
    advance()
    advance()
    expect(numbers(reply)).toEqual(['s1-1'])
    reply.drain()
    expect(numbers(reply)).toEqual(['s1-1', 's1-2'])
    reply.isFull = true
    advance()
    advance()
    stage.clock.advance(50_000)
    expect([reply.isDestroyed, numbers(reply)]).toEqual([true, ['s1-1', 's1-2', 's1-3']])
    expect(numbers(await stage.listen(session, 's1-3'))).toEqual(['s1-4'])
  })

  it('cuts off a reader that is so slow that what it has to read is not kept', async () => {
    const { stage, session, reply, advance } = await streaming()
    reply.isFull = true
    for (let count = 0; count < 1_001; count += 1) advance()
    expect(reply.isDestroyed).toBe(false)
    advance()
    expect([reply.isDestroyed, numbers(reply)]).toEqual([true, ['s1-1']])
    expect((await stage.listen(session, 's1-1')).status).toBe(400)
  })

  it('of what nobody asked for is kept until somebody listens, and goes to the newest listener alone', async () => {
    const stage = new HttpStage()
    const session = await stage.begin('2025-06-18')
    stage.link.say(CHANGED)
    const first = await stage.listen(session)
    expect(numbers(first)).toEqual(['g-1'])
    const second = await stage.listen(session, 'g-1')
    stage.link.say(CHANGED)
    expect([first.isEnded, numbers(first), numbers(second)]).toEqual([true, ['g-1'], ['g-2']])
    second.leave()
    stage.link.say(CHANGED)
    expect(numbers(await stage.listen(session, 'g-2'))).toEqual(['g-3'])
    // A gateway that started anew began to count anew.
    expect((await stage.listen(session, 'g-77')).status).toBe(200)
  })

  it('carries a request of the server to who listens, else to who waits', async () => {
    const { stage, session, reply } = await streaming()
    const ask = (id: string) => stage.link.say({ id, method: 'sampling/createMessage', params: {} })
    ask('ct-1')
    expect(reply.messages).toMatchObject([{ id: 'ct-1', method: 'sampling/createMessage' }])
    const listener = await stage.listen(session)
    ask('ct-2')
    expect(listener.messages).toMatchObject([{ id: 'ct-2' }])
    const answer = { jsonrpc: '2.0', id: 'ct-2', result: {} }
    expect((await stage.ask({ headers: session, body: answer })).status).toBe(202)
    expect(stage.link.heard.at(-1)).toEqual(answer)
  })

  it('ends when the gateway stops', async () => {
    const { stage, session, reply } = await streaming()
    const listener = await stage.listen(session)
    stage.endpoint.stop(new CtError('ERR_PEER_SHUTDOWN', 'stopping'))
    expect(reply.messages).toMatchObject([{ id: 'x', error: { data: { code: 'ERR_PEER_SHUTDOWN' } } }])
    expect([reply.isEnded, listener.isEnded, stage.clock.timers]).toEqual([true, true, 0])
  })
})
