import { describe, expect, it } from 'vitest'
import { pair } from './session-pair.ts'
import { settle } from './test-wire.ts'

const ANSWER = JSON.stringify('x'.repeat(900_000))

/** A serving session whose peer has taken nothing of many answers yet. */
async function behind() {
  const { caller, server, serverWire, serverClock } = pair()
  await caller.ready
  await server.ready
  server.watch(true)
  serverWire.full = true
  for (let count = 0; count < 16; count += 1) server.send({ text: ANSWER }).catch(() => {})
  await settle()
  expect(serverWire.isHeld).toBe(true)
  return { server, serverWire, serverClock }
}

describe('a serving session whose answers wait', () => {
  it('is kept while the peer takes them slowly, although it does not read the peer meanwhile', async () => {
    const { server, serverWire, serverClock } = await behind()
    let ended = false
    void server.closed.then(() => {
      ended = true
    })
    for (let turn = 0; turn < 10; turn += 1) {
      serverClock.advance(6_000)
      serverWire.drain()
      serverWire.full = true
      await settle()
    }
    expect(ended).toBe(false)
  })

  it('is ended when the peer takes none of them for long', async () => {
    const { server, serverClock } = await behind()
    serverClock.advance(31_000)
    expect((await server.closed).reason.code).toBe('ERR_PEER_SLOW')
  })
})
