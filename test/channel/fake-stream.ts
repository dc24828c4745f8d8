/**
 * A libp2p stream that shows what it is handed, and takes what came in any pieces.
 *
 * @module
 */
import { type MessageStream } from '@libp2p/interface'
import fc from 'fast-check'
import { Uint8ArrayList } from 'uint8arraylist'

export function fakeStream(direction: MessageStream['direction'] = 'outbound') {
  const [said, delivered, sent]: [Buffer[], Buffer[], Buffer[]] = [[], [], []]
  const ends: Error[] = []
  const stream = {
    direction,
    push: (data: Uint8Array) => void said.push(Buffer.from(data)),
    send: (data: Uint8Array | Uint8ArrayList) => sent.push(Buffer.from(data.subarray())) > 0,
    onData: (data: Uint8Array | Uint8ArrayList) => void delivered.push(Buffer.from(data.subarray())),
    abort: (error: Error) => void ends.push(error),
  }
  return {
    stream: stream as unknown as MessageStream,
    arrives: (pieces: readonly (Uint8Array | Uint8ArrayList)[]) => {
      for (const piece of pieces) if (ends.length === 0) stream.onData(piece)
    },
    /** What libp2p was told that came. */
    said: () => Buffer.concat(said),
    /** What whoever reads got. */
    delivered: () => Buffer.concat(delivered),
    sent: () => Buffer.concat(sent),
    ends,
  }
}

export const anyCuts = fc.array(fc.nat(), { maxLength: 8 })

/** The bytes in pieces, some as lists of pieces. */
export function pieces(bytes: Buffer, cuts: readonly number[]): readonly (Uint8Array | Uint8ArrayList)[] {
  const at = [...new Set([0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])].sort((a, b) => a - b)
  const parts = at.slice(1).map((end, index) => bytes.subarray(at[index], end))
  return parts.map((part, index) =>
    index % 2 === 0 ? part : new Uint8ArrayList(part.subarray(0, 1), part.subarray(1)),
  )
}
