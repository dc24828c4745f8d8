import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeStaple,
  encodeStaple,
  MEMBERSHIP_STAPLE,
  type MembershipStaple,
  openStaple,
  STAPLE_TTL_SECONDS,
  sealStaple,
  stapling,
} from '../../../src/channel/membership/staple.ts'
import { seal } from '../../../src/core/artefact.ts'
import { toHex } from '../../../src/core/bytes.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'
import { U64_MAX, u64 } from '../../../src/core/u64.ts'
import vectors from '../../vectors/channel.json' with { type: 'json' }
import { hex, idOf, itIsSafeOnTheWire, OPERATOR, secretOf, times } from './signed-wire.ts'

interface StapleFields {
  readonly channel: string
  readonly holder: string
  readonly stapledAt: string
  readonly expiresAt: string
}

function stapleOf({ channel, holder, stapledAt, expiresAt }: StapleFields): MembershipStaple {
  return {
    channel: channel as ChannelId,
    holder: holder as HolderId,
    stapledAt: u64(BigInt(stapledAt)),
    expiresAt: u64(BigInt(expiresAt)),
  }
}

const SAMPLE = stapleOf(vectors.staple)
const operator = OPERATOR.id

describe('a membership staple', () => {
  it(`${vectors.staplePreimage.name}`, () => {
    const { preimage } = vectors.staplePreimage
    expect(toHex(MEMBERSHIP_STAPLE.preimage(stapleOf(vectors.staplePreimage), 'framed'))).toBe(preimage)
  })

  it(`${vectors.staple.name}`, () => {
    const { operatorSeed, preimage, wire } = vectors.staple
    expect(toHex(MEMBERSHIP_STAPLE.preimage(SAMPLE, 'framed'))).toBe(preimage)
    const sealed = sealStaple(SAMPLE, secretOf(operatorSeed), SAMPLE.stapledAt)
    expect(sealed.body).toEqual(SAMPLE)
    expect(toHex(encodeStaple(sealed))).toBe(wire)
    expect(openStaple(decodeStaple(hex(wire)), { operator, now: SAMPLE.stapledAt })).toEqual(sealed)
  })

  itIsSafeOnTheWire<MembershipStaple>({
    kind: MEMBERSHIP_STAPLE,
    length: 144,
    bodies: fc.record({
      channel: idOf<ChannelId>(),
      holder: idOf<HolderId>(),
      stapledAt: times,
      expiresAt: times,
    }),
    sample: SAMPLE,
    now: SAMPLE.stapledAt,
    encode: encodeStaple,
    decode: decodeStaple,
    open: (sealed) => openStaple(sealed, { operator, now: SAMPLE.stapledAt }),
  })

  const sealed = seal(MEMBERSHIP_STAPLE, SAMPLE, OPERATOR.secret)
  const moments: readonly { now: bigint; skewSeconds?: number; code?: string }[] = [
    { now: SAMPLE.stapledAt - 61n, code: 'ERR_ARTEFACT_EARLY' },
    { now: SAMPLE.stapledAt - 60n },
    { now: SAMPLE.stapledAt - 59n },
    { now: SAMPLE.stapledAt - 1n, skewSeconds: 0, code: 'ERR_ARTEFACT_EARLY' },
    { now: SAMPLE.stapledAt, skewSeconds: 0 },
    { now: SAMPLE.expiresAt - 1n },
    { now: SAMPLE.expiresAt, skewSeconds: 3_600, code: 'ERR_ARTEFACT_EXPIRED' },
  ]
  for (const { now, skewSeconds, code } of moments) {
    const skew = skewSeconds === undefined ? {} : { skewSeconds }
    it(`of ${SAMPLE.stapledAt} to ${SAMPLE.expiresAt} ${code ?? 'holds'} at ${now} ${JSON.stringify(skew)}`, () => {
      const open = (): unknown => openStaple(sealed, { operator, now: u64(now), ...skew })
      if (code === undefined) expect(open()).toEqual(sealed)
      else expect(open).toThrow(expect.objectContaining({ code }))
    })
  }

  it('lives for an hour, and at the end of time as long as there is', () => {
    expect(STAPLE_TTL_SECONDS).toBe(3_600n)
    expect(sealStaple(SAMPLE, OPERATOR.secret, u64(U64_MAX - 5n)).body.expiresAt).toBe(U64_MAX)
  })

  it('is made anew in the last quarter of its life, where one is asked for again and again', () => {
    const clock = { time: 0, now: () => clock.time * 1_000 }
    const staple = stapling(SAMPLE, OPERATOR.secret, clock)
    const first = staple()
    clock.time = 2_699
    expect(staple()).toBe(first)
    clock.time = 2_700
    expect(staple().body).toMatchObject({ holder: SAMPLE.holder, stapledAt: 2_700n, expiresAt: 6_300n })
  })

  it('is refused of another operator', () => {
    expect(() => openStaple(sealed, { operator: SAMPLE.holder, now: SAMPLE.stapledAt })).toThrow(
      expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' }),
    )
  })
})
