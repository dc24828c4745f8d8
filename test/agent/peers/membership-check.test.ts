import { describe, expect, it } from 'vitest'
import { checkMembership } from '../../../src/agent/peers/membership-check.ts'
import { type ChannelId } from '../../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { u64 } from '../../../src/core/u64.ts'
import { CHANNEL, documentOf, NOW, OPERATOR, SELF } from './peers.ts'

const EXPECTED = { operator: OPERATOR.id, channel: CHANNEL, holder: SELF.id, now: NOW }
const END = u64(NOW + 100n)
const other = holderKey(SecretKey.generate())
const elsewhere = { channel: 'ee'.repeat(32) as ChannelId }

function codeOf(document: ReturnType<typeof documentOf>, expected = EXPECTED): string {
  try {
    checkMembership(document, expected)
    return 'none'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('checkMembership', () => {
  const honest = documentOf(END)
  const cases: readonly (readonly [string, ReturnType<typeof documentOf>, string])[] = [
    ['what was asked for', honest, 'none'],
    ['a grant for both directions', documentOf(END, { grant: { direction: 'both' } }), 'none'],
    ['a staple of a clock that is ahead', documentOf(END, { now: u64(NOW + 900n) }), 'none'],
    ['a staple of a clock that is behind', documentOf(END, { now: u64(NOW - 9_000n) }), 'none'],
    ['the signature of another', documentOf(END, { operator: other.secret }), 'ERR_SIGNATURE_INVALID'],
    ['a grant for another key', documentOf(END, { grant: { holder: other.id } }), 'ERR_GRANT_INVALID'],
    ['a grant for another channel', documentOf(END, { grant: elsewhere }), 'ERR_GRANT_INVALID'],
    ['a grant to accept', documentOf(END, { grant: { direction: 'accept' } }), 'ERR_GRANT_INVALID'],
    ['a grant that has ended', documentOf(NOW), 'ERR_GRANT_EXPIRED'],
    [
      'a staple of somebody else',
      { ...honest, staple: documentOf(END, { operator: other.secret }).staple },
      'ERR_SIGNATURE_INVALID',
    ],
    [
      'a staple for another key',
      { ...honest, staple: { ...honest.staple, body: { ...honest.staple.body, holder: other.id } } },
      'ERR_GRANT_INVALID',
    ],
    [
      'a grant that was changed after signing',
      { ...honest, grant: { ...honest.grant, body: { ...honest.grant.body, expiresAt: u64(END + 1n) } } },
      'ERR_SIGNATURE_INVALID',
    ],
  ]
  for (const [name, document, code] of cases) {
    it(`${code === 'none' ? 'takes' : 'refuses'} ${name}`, () => {
      expect(codeOf(document)).toBe(code)
    })
  }
})
