import { yamux } from '@chainsafe/libp2p-yamux'
import { type MessageStream, StreamMessageEvent, type StreamMuxer } from '@libp2p/interface'
import fc from 'fast-check'
import { type Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, it } from 'vitest'
import { quietLogger } from '../../src/channel/node/node.ts'
import { MAX_OWED_BYTES, sparing } from '../../src/channel/node/sparing-windows.ts'

const [DATA, WINDOW_UPDATE] = [0, 1]
const [SYN, ACK] = [1, 2]
const HEADER_BYTES = 12

interface Frame {
  readonly type: number
  readonly flags: number
  readonly length: number
}

/** A muxer, its peer's stream, and the frames that it says. */
class Scene {
  readonly said: Frame[] = []
  readonly read: number[] = []
  readonly muxer: StreamMuxer
  readonly #connection: EventTarget

  constructor(direction: MessageStream['direction'] = 'inbound') {
    const log = quietLogger.forComponent('test')
    const send = (bytes: Uint8Array | Uint8ArrayList): boolean => this.said.push(frameIn(bytes.subarray())) > 0
    this.#connection = Object.assign(new EventTarget(), { log, send, direction })
    const factory = sparing(yamux({ enableKeepAlive: false })())
    this.muxer = factory.createStreamMuxer(this.#connection as unknown as MessageStream)
    this.muxer.addEventListener('stream', ({ detail }) => {
      detail.addEventListener('message', ({ data }) => this.read.push(data.byteLength))
    })
  }

  hears(type: number, flags: number, length: number): void {
    const frame = Buffer.alloc(HEADER_BYTES + (type === DATA ? length : 0))
    frame[1] = type
    frame.writeUInt16BE(flags, 2)
    frame.writeUInt32BE(1, 4)
    frame.writeUInt32BE(length, 8)
    this.#connection.dispatchEvent(new StreamMessageEvent(frame))
  }

  /** Bytes that the peer was told it may send, beyond the first window. */
  get given(): number {
    return this.said.filter(({ type }) => type === WINDOW_UPDATE).reduce((sum, { length }) => sum + length, 0)
  }
}

function frameIn(bytes: Uint8Array): Frame {
  const header = Buffer.from(bytes)
  return { type: header[1] ?? 0, flags: header.readUInt16BE(2), length: header.readUInt32BE(8) }
}

describe('the window of a stream', () => {
  it('is given back in one step when enough of it is used, after the stream was accepted at once', () => {
    const scene = new Scene()
    scene.hears(WINDOW_UPDATE, SYN, 0)
    scene.hears(DATA, 0, 100)
    expect(scene.said).toEqual([{ type: WINDOW_UPDATE, flags: ACK, length: 100 }])
    for (let frame = 0; frame < MAX_OWED_BYTES / 1_024; frame += 1) scene.hears(DATA, 0, 1_024)
    expect(scene.said).toHaveLength(1)
    scene.hears(DATA, 0, 1)
    expect(scene.said.slice(1)).toEqual([{ type: WINDOW_UPDATE, flags: 0, length: MAX_OWED_BYTES + 1 }])
  })

  it('is short of little at every moment, whatever the peer sends', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 65_536 }), { maxLength: 60 }), (sizes) => {
        const scene = new Scene()
        scene.hears(WINDOW_UPDATE, SYN, 0)
        let sent = 0
        for (const size of sizes) {
          scene.hears(DATA, 0, size)
          sent += size
          expect(sent - scene.given).toBeLessThanOrEqual(MAX_OWED_BYTES)
        }
        expect(scene.read).toEqual(sizes)
      }),
    )
  })

  it('is opened at once by whoever opens the stream', async () => {
    const scene = new Scene('outbound')
    await scene.muxer.createStream()
    expect(scene.said).toEqual([{ type: WINDOW_UPDATE, flags: SYN, length: 0 }])
    for (let frame = 0; frame < 15; frame += 1) scene.hears(DATA, 0, 1_024)
    expect(scene.said.length).toBeLessThanOrEqual(2)
  })
})
