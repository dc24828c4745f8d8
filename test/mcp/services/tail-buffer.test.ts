import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TailBuffer } from '../../../src/mcp/services/tail-buffer.ts'

describe('TailBuffer', () => {
  it('keeps the last bytes, however they were cut into chunks', () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 40 }))
    fc.assert(
      fc.property(chunks, fc.integer({ min: 1, max: 60 }), (parts, capacity) => {
        const tail = new TailBuffer(capacity)
        for (const part of parts) tail.push(part)
        const whole = Buffer.concat(parts)
        expect(Buffer.from(tail.bytes())).toEqual(Buffer.from(whole.subarray(-capacity)))
        expect(tail.totalBytes).toBe(whole.length)
      }),
    )
  })
})
