import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HttpStage } from './stage.ts'

const METHODS = { jsonrpc: '2.0', method: 'tools/call' } as const

describe('a POST in a session', () => {
  it('is answered in JSON when the answer comes at once', async () => {
    const stage = new HttpStage()
    const session = await stage.begin()
    const reply = await stage.call(session, 1)
    expect(reply.status).toBe(0)
    stage.clock.advance(99)
    stage.link.answer(1, { content: [] })
    expect(reply.headers['content-type']).toBe('application/json')
    expect(reply.json).toEqual({ jsonrpc: '2.0', id: 1, result: { content: [] } })
  })

  it('is answered in a stream when the answer takes its time, of which newer clients are told where to come back', async () => {
    for (const { version, isPrimed } of [
      { version: '2025-11-25', isPrimed: true },
      { version: '2025-06-18', isPrimed: false },
    ]) {
      const stage = new HttpStage()
      const reply = await stage.call(await stage.begin(version))
      stage.clock.advance(100)
      expect(reply.headers).toMatchObject({ 'content-type': 'text/event-stream', 'x-accel-buffering': 'no' })
      expect(reply.body).toBe(isPrimed ? 'id: s1-0\nretry: 1000\ndata: \n\n' : '')
      stage.link.answer(1)
      expect(reply.events).toEqual([{ id: 's1-1', data: { jsonrpc: '2.0', id: 1, result: {} } }])
      expect(reply.isEnded).toBe(true)
    }
  })

  for (const { accept, type, waits } of [
    { accept: 'application/json', type: 'application/json', waits: 60_000 },
    { accept: 'text/event-stream', type: 'text/event-stream', waits: 0 },
    { accept: '*/*', type: 'text/event-stream', waits: 100 },
    { accept: '', type: 'text/event-stream', waits: 100 },
  ]) {
    it(`is answered as ${type} to who accepts ${accept === '' ? 'nothing that is named' : accept}`, async () => {
      const stage = new HttpStage()
      const reply = await stage.call({ ...(await stage.begin()), accept })
      stage.clock.advance(waits)
      stage.link.answer(1)
      expect(reply.headers['content-type']).toBe(type)
      expect(reply.messages).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }])
    })
  }

  it('hears of its progress under the name it chose, and nobody else does', async () => {
    const stage = new HttpStage()
    const session = await stage.begin()
    const replies = []
    for (const progressToken of [1, 1, '1']) {
      replies.push(await stage.call(session, 1, { _meta: { progressToken, other: 9_007_199_254_740_991 } }))
    }
    const tokens = stage.link.heard.slice(1).map(({ params }) => (params as Meta)._meta)
    expect(new Set(tokens.map(({ progressToken }) => progressToken)).size).toBe(3)
    expect(tokens.every(({ other }) => other === 9_007_199_254_740_991)).toBe(true)
    for (const [index, { progressToken }] of tokens.entries()) {
      stage.link.say({ method: 'notifications/progress', params: { progressToken, progress: index } })
    }
    for (const index of [3, 2, 1]) stage.link.answer(index, { index })
    expect(replies.map(({ messages }) => messages)).toEqual(
      [1, 1, '1'].map((progressToken, progress) => [
        { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, progress } },
        { jsonrpc: '2.0', id: 1, result: { index: progress + 1 } },
      ]),
    )
  })

  it('keeps its answer for itself, whatever ids others choose', async () => {
    const id = fc.oneof(fc.constantFrom(0, 1, -1, '', '1', 'req-abc', 1_774_232_524_389), fc.string({ maxLength: 9 }))
    const order = fc.array(fc.tuple(id, fc.nat()), { minLength: 1, maxLength: 20 })
    await fc.assert(
      fc.asyncProperty(order, async (asked) => {
        const stage = new HttpStage()
        const session = await stage.begin()
        const replies = await Promise.all(asked.map(([chosen], n) => stage.call(session, chosen, { n })))
        const answers = asked.map(([, rank], index) => ({ rank, index: index + 1 }))
        for (const { index } of answers.toSorted((left, right) => left.rank - right.rank)) {
          stage.link.answer(index, { n: stage.link.params<{ n: number }>(index).n })
        }
        expect(replies.map(({ json }) => [json['id'], json['result']])).toEqual(
          asked.map(([chosen], n) => [chosen, { n }]),
        )
      }),
      { numRuns: 50 },
    )
  })

  it('brings an id back to the digit', async () => {
    const stage = new HttpStage()
    const session = await stage.begin()
    const body = '{"\\u0069d":90071992547409931, "jsonrpc":"2.0","method":"x","params":{"id":5}}'
    const reply = await stage.ask({ headers: session, body })
    expect(stage.link.heard[1]).toMatchObject({ id: 2, params: { id: 5 } })
    stage.link.answer(1)
    expect(reply.body).toBe('{"jsonrpc":"2.0","id":90071992547409931,"result":{}}')
  })

  it('ends without an answer when it is cancelled, unless nobody knows which is meant', async () => {
    const stage = new HttpStage()
    const session = await stage.begin()
    const cancel = (requestId: unknown) =>
      stage.ask({
        headers: session,
        body: { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } },
      })
    const [one, other, twin] = [
      await stage.call(session, 0),
      await stage.call(session, 'x'),
      await stage.call(session, 'x'),
    ]
    expect((await cancel('unknown')).status).toBe(202)
    await cancel('x')
    expect(stage.link.heard).toHaveLength(4)
    await cancel(0)
    expect(stage.link.heard[4]).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 2 } })
    expect([one.status, one.body]).toEqual([202, ''])
    // It came too late to be stopped.
    stage.link.answer(1)
    for (const index of [2, 3]) stage.link.answer(index)
    expect([other, twin].map(({ json }) => json['id'])).toEqual(['x', 'x'])
  })

  it('is not cancelled when it begins the session', async () => {
    const stage = new HttpStage()
    const beginning = await stage.ask({ body: { ...METHODS, id: 5, method: 'initialize' } })
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 5 } }
    expect((await stage.ask({ headers: { 'mcp-session-id': 'session-1' }, body: cancel })).status).toBe(202)
    expect(stage.link.heard).toHaveLength(1)
    stage.link.answer(0)
    expect(beginning.json).toMatchObject({ id: 5, result: {} })
  })

  it('answers a batch where the revision has them, in one array or in events', async () => {
    for (const waits of [0, 100]) {
      const stage = new HttpStage()
      const session = await stage.begin('2025-03-26')
      const batch = [
        { ...METHODS, id: 1, params: { a: '],' } },
        { jsonrpc: '2.0', method: 'notifications/x' },
        { ...METHODS, id: 1 },
        { jsonrpc: '2.0', id: 5, method: 'initialize', params: {} },
        { id: 'bad' },
      ]
      const reply = await stage.ask({ headers: session, body: batch })
      stage.clock.advance(waits)
      expect(stage.link.heard.map(({ method }) => method)).toEqual([
        'initialize',
        'tools/call',
        'notifications/x',
        'tools/call',
      ])
      expect(stage.link.heard[1]).toMatchObject({ params: { a: '],' } })
      stage.link.answer(3, { second: true })
      stage.link.answer(1, { first: true })
      const answers = waits === 0 ? (JSON.parse(reply.body) as unknown[]) : reply.messages
      expect(answers).toMatchObject([
        { id: 5, error: { code: -32600 } },
        { id: 'bad', error: { code: -32600 } },
        { id: 1, result: { second: true } },
        { id: 1, result: { first: true } },
      ])
    }
  })

  it('is answered with the reason when its session is ended', async () => {
    const stage = new HttpStage()
    const session = await stage.begin()
    const [atOnce, later] = [await stage.call(session, 1), await stage.call(session, 2)]
    await stage.ask({ method: 'DELETE', headers: session })
    expect(stage.link.closedWith).toBe('ERR_LINK_CLOSED')
    expect([atOnce, later].map(({ json }) => json)).toMatchObject([
      { id: 1, error: { data: { code: 'ERR_LINK_CLOSED' } } },
      { id: 2, error: { data: { code: 'ERR_LINK_CLOSED' } } },
    ])
    expect((await stage.call(session, 3)).status).toBe(404)
  })

  it('goes on when its host goes away, and nobody is told its answer', async () => {
    const stage = new HttpStage()
    const session = await stage.begin()
    const reply = await stage.call(session)
    reply.leave()
    stage.clock.advance(1_000)
    expect(stage.link.closedWith).toBeUndefined()
    stage.link.answer(1)
    expect(reply.status).toBe(0)
  })
})

interface Meta {
  readonly _meta: { readonly progressToken: unknown; readonly other: number }
}
