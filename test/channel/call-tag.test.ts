import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CALL_TAG_BYTES, encodeCallTag, parseCallTag } from '../../src/channel/session/call-tag.ts'
import { isCtError } from '../../src/core/errors.ts'
import { type InstanceId } from '../../src/core/ids.ts'

const RUN = '0f'.repeat(16) as InstanceId

describe('call tags', () => {
  it('round-trip, whatever follows them', () => {
    const sequences = fc.oneof(
      fc.maxSafeNat().map((value) => Math.max(1, value)),
      fc.constantFrom(1, Number.MAX_SAFE_INTEGER),
    )
    fc.assert(
      fc.property(sequences, fc.nat(), fc.boolean(), fc.uint8Array(), (sequence, behind, resent, rest) => {
        const tag = { instance: RUN, sequence, acknowledgedBelow: Math.max(0, sequence - behind), resent }
        const bytes = Buffer.concat([encodeCallTag(tag), rest])
        expect(parseCallTag(bytes, RUN)).toEqual(tag)
      }),
    )
  })

  it('are read at any place of a larger buffer', () => {
    const tag = { instance: RUN, sequence: 258, acknowledgedBelow: 2, resent: true }
    const bytes = Buffer.concat([Buffer.alloc(3, 0xff), encodeCallTag(tag)])
    expect(parseCallTag(bytes.subarray(3), RUN)).toEqual(tag)
  })

  it('ignore flags they do not know', () => {
    const bytes = encodeCallTag({ instance: RUN, sequence: 1, acknowledgedBelow: 1, resent: false })
    bytes[16] = 0xfe
    expect(parseCallTag(bytes, RUN).resent).toBe(false)
  })

  const zeros = '00'.repeat(8)
  const refusals: readonly { name: string; hex: string }[] = [
    { name: 'nothing', hex: '' },
    { name: 'a tag that is cut short', hex: '00'.repeat(CALL_TAG_BYTES - 1) },
    { name: 'sequence 0', hex: `${zeros}${zeros}00` },
    { name: 'a sequence of 2^53', hex: `0020000000000000${zeros}00` },
    { name: 'the largest sequence of 64 bits', hex: `${'ff'.repeat(8)}${zeros}00` },
    { name: 'an acknowledged mark above the sequence', hex: `0000000000000001000000000000000200` },
    { name: 'the largest acknowledged mark', hex: `0000000000000001${'ff'.repeat(8)}00` },
  ]
  for (const { name, hex } of refusals) {
    it(`are refused: ${name}`, () => {
      expect(() => parseCallTag(Buffer.from(hex, 'hex'), RUN)).toThrow(
        expect.objectContaining({ code: 'ERR_PROTOCOL' }),
      )
    })
  }

  it('of any bytes are a tag or ERR_PROTOCOL', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), (bytes) => {
        try {
          const { sequence, acknowledgedBelow } = parseCallTag(bytes, RUN)
          expect(Number.isSafeInteger(sequence) && sequence >= 1 && acknowledgedBelow <= sequence).toBe(true)
        } catch (error) {
          expect(isCtError(error, 'ERR_PROTOCOL')).toBe(true)
        }
      }),
    )
  })
})
