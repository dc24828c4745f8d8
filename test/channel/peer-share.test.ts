import { afterEach, describe, expect, it } from 'vitest'
import { closeAll, holders, member, open, type Serving, serve } from './members.ts'

afterEach(closeAll)

/** What became of one more session of this member. */
async function openFor(self: ReturnType<typeof member>, { self: server, address }: Serving): Promise<string> {
  const session = await open(self, { addresses: [address], trust: holders(server) })
  return session.ready.then(
    () => 'served',
    (error: unknown) => (error instanceof Error ? error.message : 'refused'),
  )
}

describe('the places of one peer (W17)', () => {
  it('leave a quarter to others', async () => {
    const [greedy, other] = [member('call'), member('call')]
    const trust = holders(greedy, other)
    const serving = await serve({ trust, maxSessions: 4 })
    for (let count = 0; count < 3; count += 1) expect(await openFor(greedy, serving)).toBe('served')
    expect(await openFor(greedy, serving)).toBe('this peer has the 3 sessions that one peer may have')
    expect(await openFor(other, serving)).toBe('served')
    expect(await openFor(other, serving)).toBe('all 4 sessions are taken')
  })

  it('are all places where it is the only one that is trusted', async () => {
    const only = member('call')
    const serving = await serve({ trust: holders(only), maxSessions: 4 })
    for (let count = 0; count < 4; count += 1) expect(await openFor(only, serving)).toBe('served')
  })

  it('are as many as the settings say', async () => {
    const [greedy, other] = [member('call'), member('call')]
    const trust = holders(greedy, other)
    const serving = await serve({ trust, maxSessions: 4, maxPeerSessions: 1 })
    expect(await openFor(greedy, serving)).toBe('served')
    expect(await openFor(greedy, serving)).toBe('this peer has the 1 sessions that one peer may have')
  })
})
