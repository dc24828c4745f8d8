import { describe, expect, it } from 'vitest'
import { FRAME } from '../../src/channel/session/frame.ts'
import { encodeHello } from '../../src/channel/session/hello.ts'
import { Patience } from '../../src/channel/session/patience.ts'
import { helloOf, raw } from './session-pair.ts'
import { settle } from './test-wire.ts'

/** A caller that has a call of so many bytes on its way to a peer that has said nothing since. */
async function sending(bytes: number, { isBlocked = true } = {}) {
  const { session, wire, clock } = raw('call')
  wire.deliverFrame(FRAME.hello, encodeHello(helloOf('serve')))
  await session.ready
  session.watch(true)
  let code: string | undefined
  void session.closed.then(({ reason }) => {
    code = reason.code
  })
  wire.full = isBlocked
  await session.send({ text: 'x'.repeat(bytes) })
  await settle()
  const pass = async (seconds: number): Promise<string | undefined> => {
    for (let passed = 0; passed < seconds; passed += 1) clock.advance(1_000)
    await settle()
    return code
  }
  const takeMore = async (): Promise<void> => {
    wire.drain()
    wire.full = isBlocked
    await settle()
  }
  /** Answers the first ping that has not been answered. */
  let answered = 0
  const pong = async (): Promise<void> => {
    const ping = wire.frames.filter(({ type }) => type === FRAME.ping)[answered]
    if (ping === undefined) throw new Error('no ping was written')
    answered += 1
    wire.deliverFrame(FRAME.pong, ping.payload)
    await settle()
  }
  return { wire, pass, takeMore, pong }
}

describe('a peer that is silent while much is on its way to it', () => {
  it('is kept while a slow line may still be busy with what was written', async () => {
    const { pass, takeMore, pong } = await sending(900_000)
    expect(await pass(9)).toBeUndefined()
    await takeMore()
    await pong()
    expect(await pass(9)).toBeUndefined()
    await takeMore()
    await pong()
    expect(await pass(9)).toBeUndefined()
  })

  it('is given up when not even the slowest line is busy for so long', async () => {
    const { pass } = await sending(900_000)
    // One write is 256 KiB, at 16 bytes a millisecond.
    expect(await pass(16)).toBeUndefined()
    expect(await pass(2)).toBe('ERR_PEER_SLOW')
  })

  it('is waited for no longer because of what an answer shows to have come there', async () => {
    const { pass, takeMore, pong } = await sending(900_000)
    expect(await pass(1)).toBeUndefined()
    await takeMore()
    await pong()
    // Only the second write of 256 KiB is still on its way.
    expect(await pass(16)).toBeUndefined()
    expect(await pass(2)).toBe('ERR_PEER_SLOW')
  })

  it('is given up by the most patience, however much was written', async () => {
    const { pass } = await sending(900_000, { isBlocked: false })
    expect(await pass(29)).toBeUndefined()
    expect(await pass(2)).toBe('ERR_PEER_UNRESPONSIVE')
  })

  it('is given up within 5 s when little was written', async () => {
    const { pass } = await sending(50_000, { isBlocked: false })
    expect(await pass(5)).toBe('ERR_PEER_UNRESPONSIVE')
  })
})

describe('patience', () => {
  const at = (bytesOut: number, isBlocked = false) => {
    const [wire, outbox] = [{ bytesOut }, { isBlocked }]
    return { wire, outbox, patience: new Patience(wire, outbox) }
  }

  it('is not bought by what is written behind the question', () => {
    const { wire, patience } = at(1_600)
    patience.asked()
    wire.bytesOut += 1_000_000
    patience.asked()
    expect(patience.ms).toBe(100)
  })

  it('counts nothing that came to the peer before it was heard', () => {
    const { wire, patience } = at(1_000_000)
    patience.heard()
    wire.bytesOut += 1_600
    patience.asked()
    expect(patience.ms).toBe(100)
  })

  it('counts what waits on a line that is full, whatever the peer says of other things', () => {
    const { patience } = at(160_000, true)
    patience.heard()
    patience.asked()
    expect(patience.ms).toBe(10_000)
  })

  it('counts what was written before a question no more once that is answered', () => {
    const { wire, patience } = at(160_000, true)
    const behind = patience.asked()
    wire.bytesOut += 3_200
    patience.heard()
    patience.answered(behind)
    patience.asked()
    expect(patience.ms).toBe(200)
  })
})
