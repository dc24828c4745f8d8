import { connect, createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { type PipeSink } from '../../src/channel/session/pipe-flow.ts'
import { type Session } from '../../src/channel/session/session.ts'
import { CtError } from '../../src/core/errors.ts'
import { listening } from './cutting-proxy.ts'
import { closeAll, closing, dialler, holders, member, noiseKeys, type Serving, serve } from './members.ts'

afterEach(closeAll)

const DONE = new CtError('ERR_LINK_CLOSED', 'done')
const LARGE_BYTES = 6 * 1_048_576 + 12_345

function collect(): { readonly sink: PipeSink; readonly bytes: () => Buffer } {
  const parts: Uint8Array[] = []
  return {
    sink: {
      write: async (bytes) => {
        parts.push(Uint8Array.from(bytes))
        await new Promise((resolve) => setImmediate(resolve))
      },
      end: () => Promise.resolve(),
    },
    bytes: () => Buffer.concat(parts),
  }
}

async function piped(): Promise<{ calling: Session; close: () => Promise<void>; peer: Session }> {
  const self = member('pipe')
  const serving = await serve({ self: member('pipe'), trust: holders(self) })
  const taken = serving.next()
  const made = await dialler(self)
  const target = { addresses: [serving.address], trust: holders(serving.self) }
  const calling = await made.open(target, AbortSignal.timeout(10_000))
  await calling.ready
  return { calling, close: () => made.close(), peer: await taken }
}

describe('a pipe over sockets', () => {
  it('loses no tail when the sender leaves as soon as its end is acknowledged (W42)', async () => {
    const { calling, close, peer } = await piped()
    const { sink, bytes } = collect()
    const sent = Buffer.alloc(LARGE_BYTES, 'the quick brown fox ')
    peer.pipe.deliverTo(sink)
    for (let at = 0; at < sent.length; at += 100_003) await calling.pipe.send(sent.subarray(at, at + 100_003))
    calling.pipe.sendEnd()
    await calling.pipe.sentAll
    calling.end(DONE)
    await close()
    expect(bytes().equals(sent)).toBe(true)
    expect((await peer.closed).reason.code).toBe('ERR_LINK_CLOSED')
  })

  it('carries both directions at once, and one after the other has ended', async () => {
    const { calling, peer } = await piped()
    const [there, back] = [collect(), collect()]
    peer.pipe.deliverTo(there.sink)
    calling.pipe.deliverTo(back.sink)
    calling.pipe.sendEnd()
    await peer.pipe.receivedAll
    const sent = Buffer.alloc(LARGE_BYTES, 'lazy dog ')
    await peer.pipe.send(sent)
    peer.pipe.sendEnd()
    await Promise.all([calling.pipe.receivedAll, peer.pipe.sentAll])
    expect([there.bytes().length, back.bytes().equals(sent)]).toEqual([0, true])
  })

  it('fails the sender when the peer goes away before the end is acknowledged (W42)', async () => {
    const { calling, peer } = await piped()
    await calling.pipe.send(Buffer.alloc(1_000))
    calling.pipe.sendEnd()
    peer.end(new CtError('ERR_PEER_SHUTDOWN', 'down'))
    await expect(calling.pipe.sentAll).rejects.toMatchObject({ code: 'ERR_PEER_SHUTDOWN' })
  })
})

describe('one address behind which two members answer in turn', () => {
  it('never lets one pass for the other, whatever dials are under way (W22)', async () => {
    const self = member('pipe')
    const [right, wrong] = [
      await serve({ self: member('pipe'), trust: holders(self), maxSessions: 50 }),
      await serve({ self: member('pipe'), trust: holders(self), maxSessions: 50 }),
    ]
    const address = await alternating([right, wrong])
    const made = await dialler(self)
    const target = { addresses: [address], trust: noiseKeys(right.self) }
    const opening = Array.from({ length: 16 }, () => made.open(target, AbortSignal.timeout(10_000)))
    const results = await Promise.allSettled(opening)
    const opened = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value.peer.holder] : []))
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason.code)] : []))
    expect(opened).toEqual(Array(8).fill(right.self.holder.id))
    expect(refused).toEqual(Array(8).fill('ERR_PEER_KEY_MISMATCH'))
    expect(wrong.sessions).toEqual([])
  })
})

/** Forwards one connection to the first, the next to the second, and so on. */
async function alternating(members: readonly Serving[]) {
  let count = 0
  const server = createServer((socket) => {
    const to = members[count % members.length]?.address
    count += 1
    const onward = connect(to?.port ?? 0, to?.host)
    for (const end of [socket, onward]) end.on('error', () => {})
    socket.on('close', () => onward.destroy())
    onward.on('close', () => socket.destroy())
    socket.pipe(onward)
    onward.pipe(socket)
  })
  const port = await listening(server)
  closing(() => new Promise((resolve) => server.close(() => resolve())))
  return { host: '127.0.0.1', port }
}
