import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, holders, member, open, serve } from './members.ts'

afterEach(closeAll)

const CALLS = 48
const TEXT = JSON.stringify('x'.repeat(900_000))

describe('a session with much under way in both directions', () => {
  it('brings back all of it, also when the caller asks for everything at once', async () => {
    const self = member('call')
    const serving = await serve({ trust: holders(self) })
    const taken = serving.next()
    const caller = await open(self, { addresses: [serving.address], trust: holders(serving.self) })
    await caller.ready
    const server = await taken
    server.receive(() => {
      server.send({ text: TEXT }).catch(() => {})
    })
    let answers = 0
    const all = new Promise<void>((resolve) => {
      caller.receive(() => {
        answers += 1
        if (answers === CALLS) resolve()
      })
    })
    for (let count = 0; count < CALLS; count += 1) caller.send({ text: TEXT }).catch(() => {})
    const ended = caller.closed.then(({ reason }) => Promise.reject(reason))
    await Promise.race([all, ended])
    expect(answers).toBe(CALLS)
  }, 30_000)
})
