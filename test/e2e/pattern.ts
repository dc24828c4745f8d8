/**
 * Bytes that anybody can check without having kept them: each place has its own.
 *
 * @module
 */
import { once } from 'node:events'
import { type Readable, type Writable } from 'node:stream'

export const MIB = 1024 * 1024
const CHUNK_BYTES = 64 * 1024
/** No multiple of the chunk, so that a piece lost or doubled is seen. */
const PERIOD_BYTES = 65_521

function patternAt(offset: number, bytes: number, seed: number): Uint8Array {
  const chunk = Buffer.allocUnsafe(bytes)
  for (let index = 0; index < bytes; index += 1) chunk[index] = ((offset + index) % PERIOD_BYTES) * seed
  return chunk
}

/** Writes the pattern as fast as it is taken, then the end. */
export async function pushPattern(stream: Writable | null, bytes: number, seed: number): Promise<void> {
  if (stream === null) throw new TypeError('expected a stream')
  for (let offset = 0; offset < bytes; offset += CHUNK_BYTES) {
    const chunk = patternAt(offset, Math.min(CHUNK_BYTES, bytes - offset), seed)
    if (!stream.write(chunk)) await once(stream, 'drain')
  }
  stream.end()
}

/**
 * Reads to the end and checks each byte.
 *
 * @param now and then called while bytes come
 */
export async function readPattern(
  stream: Readable | null,
  bytes: number,
  seed: number,
  now: () => Promise<void> = async () => {},
): Promise<void> {
  if (stream === null) throw new TypeError('expected a stream')
  let offset = 0
  let nextCall = 0
  for await (const data of stream) {
    const chunk: Uint8Array = data
    const expected = patternAt(offset, chunk.length, seed)
    if (Buffer.compare(chunk, expected) !== 0) throw new Error(`expected the pattern after byte ${offset}`)
    offset += chunk.length
    if (offset >= nextCall) {
      nextCall += 4 * MIB
      await now()
    }
  }
  if (offset !== bytes) throw new Error(`expected ${bytes} bytes, found ${offset}`)
}
