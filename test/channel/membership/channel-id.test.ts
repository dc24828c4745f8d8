import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { linkChannelId, pipelineChannelId } from '../../../src/channel/membership/channel-id.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import vectors from '../../vectors/channel.json' with { type: 'json' }

const sha256 = (preimage: string): string => createHash('sha256').update(preimage, 'hex').digest('hex')

const holders = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((bytes) => Buffer.from(bytes).toString('hex') as HolderId)

describe('linkChannelId', () => {
  const { name, operator, one, other, preimage, channel } = vectors.linkChannel
  it(`${name}`, () => {
    expect(sha256(preimage)).toBe(channel)
    expect(linkChannelId(operator as HolderId, one as HolderId, other as HolderId)).toBe(channel)
    expect(linkChannelId(operator as HolderId, other as HolderId, one as HolderId)).toBe(channel)
  })

  it('is the same from both ends, and of nobody else', () => {
    fc.assert(
      fc.property(holders, holders, holders, holders, (operator, first, second, third) => {
        fc.pre(new Set([operator, first, second, third]).size === 4)
        const id = linkChannelId(operator, first, second)
        expect(linkChannelId(operator, second, first)).toBe(id)
        const others = [
          linkChannelId(operator, first, third),
          linkChannelId(operator, first, first),
          linkChannelId(first, operator, second),
        ]
        expect(others).not.toContain(id)
      }),
    )
  })

  it('sorts keys as bytes', () => {
    const [low, high] = [`7f${'ff'.repeat(31)}` as HolderId, `80${'00'.repeat(31)}` as HolderId]
    const covered = Buffer.from('ct-link-channel-v1').toString('hex') + low + low + high
    expect(linkChannelId(low, high, low)).toBe(sha256(covered))
  })
})

describe('pipelineChannelId', () => {
  for (const { name, operator, pipeline, role, preimage, channel } of vectors.pipelineRoles) {
    it(`${name}`, () => {
      expect(sha256(preimage)).toBe(channel)
      expect(pipelineChannelId(operator as HolderId, { pipeline, role })).toBe(channel)
    })
  }

  const boundary = vectors.pipelineBoundary
  it(`${boundary.name}`, () => {
    const operator = boundary.operator as HolderId
    expect(pipelineChannelId(operator, { pipeline: 'ab', role: 'c' })).toBe(boundary['ab/c'])
    expect(pipelineChannelId(operator, { pipeline: 'a', role: 'bc' })).toBe(boundary['a/bc'])
  })

  it('counts blanks and empty texts', () => {
    const operator = boundary.operator as HolderId
    const names = ['', ' ', 'a', ' a', 'a ', 'A', 'ä', 'a\n', 'a\0']
    const ids = names.flatMap((pipeline) => names.map((role) => pipelineChannelId(operator, { pipeline, role })))
    expect(new Set(ids).size).toBe(names.length ** 2)
  })

  it('is one for one pair of names', () => {
    const roles = fc.record({ pipeline: fc.string({ maxLength: 3 }), role: fc.string({ maxLength: 3 }) })
    const operator = boundary.operator as HolderId
    fc.assert(
      fc.property(roles, roles, (one, other) => {
        const same = pipelineChannelId(operator, one) === pipelineChannelId(operator, other)
        expect(same).toBe(one.pipeline === other.pipeline && one.role === other.role)
      }),
      { numRuns: 1_000 },
    )
  })
})
