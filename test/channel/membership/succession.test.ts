import { createPrivateKey, sign } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KnownSuccessions } from '../../../src/channel/membership/known-successions.ts'
import {
  checkSuccession,
  decodeSuccession,
  EVERY_CHANNEL,
  encodeSuccession,
  KEY_SUCCESSION,
  type KeySuccession,
  MAX_SHOWN_SUCCESSIONS,
  MAX_SUCCESSIONS,
  parseSuccessions,
  type SignedSuccession,
  SUCCESSION_BYTES,
  type Succession,
  sealSuccession,
} from '../../../src/channel/membership/succession.ts'
import { toHex } from '../../../src/core/bytes.ts'
import { isCtError } from '../../../src/core/errors.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { u64 } from '../../../src/core/u64.ts'
import vectors from '../../vectors/successions.json' with { type: 'json' }
import { hex, secretOf } from './signed-wire.ts'

const CHANNEL = 'ab'.repeat(32) as ChannelId
const NOW = u64(1_000)
const keyOf = (byte: number): SecretKey => new SecretKey(new Uint8Array(32).fill(byte))
const id = (byte: number): HolderId => holderKey(keyOf(byte)).id
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

function signedByOpenssl(seed: string, preimage: string): string {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, hex(seed)]), format: 'der', type: 'pkcs8' })
  return sign(null, hex(preimage), key).toString('hex')
}

/** From one key to another, good for ever unless the test says otherwise. */
function step(from: number, to: number, changes: Partial<Succession> = {}): SignedSuccession {
  return sealSuccession({
    channel: CHANNEL,
    kind: 'operator',
    issuedAt: u64(0),
    overlapUntil: u64(2_000),
    oldKey: keyOf(from),
    newKey: keyOf(to),
    ...changes,
  })
}

const REFUSED = expect.objectContaining({
  code: expect.stringMatching(/^ERR_(ARTEFACT_INVALID|SIGNATURE_INVALID|ARTEFACT_EARLY)$/),
})

describe('a key succession', () => {
  for (const { name, preimage, wire, ...fields } of vectors.successions) {
    it(`of ${name} has the bytes of the vector, which another library signs the same`, () => {
      const body: KeySuccession = {
        channel: fields.channel as ChannelId,
        kind: fields.kind as KeySuccession['kind'],
        from: fields.from as HolderId,
        to: fields.to as HolderId,
        issuedAt: u64(BigInt(fields.issuedAt)),
        overlapUntil: u64(BigInt(fields.overlapUntil)),
      }
      const [oldKey, newKey] = [secretOf(fields.oldSeed), secretOf(fields.newSeed)]
      const signed = sealSuccession({ ...body, oldKey, newKey })
      expect(signed.body).toEqual(body)
      expect(toHex(KEY_SUCCESSION.preimage(body, 'framed'))).toBe(preimage)
      expect(toHex(encodeSuccession(signed))).toBe(wire)
      expect([signed.oldSignature, signed.newSignature]).toEqual(
        [fields.oldSeed, fields.newSeed].map((seed) => signedByOpenssl(seed, preimage)),
      )
      expect(decodeSuccession(hex(wire))).toEqual(signed)
      expect(() => checkSuccession(signed, { now: body.issuedAt })).not.toThrow()
    })
  }

  it('is refused with any one byte changed, cut off or added', () => {
    const wire = encodeSuccession(step(1, 2))
    expect(wire).toHaveLength(SUCCESSION_BYTES)
    const open = (bytes: Uint8Array): void => checkSuccession(decodeSuccession(bytes), { now: NOW })
    open(wire)
    for (let at = 0; at < wire.length; at += 1) {
      const changed = Uint8Array.from(wire)
      changed[at] = (changed[at] ?? 0) ^ (1 << (at & 7))
      expect(() => open(changed), `byte ${at}`).toThrow(REFUSED)
      expect(() => open(wire.subarray(0, at)), `${at} bytes`).toThrow(REFUSED)
    }
    expect(() => open(Buffer.concat([wire, Buffer.alloc(1)]))).toThrow(REFUSED)
  })

  it('is nothing with the signature of one of the two keys alone', () => {
    const good = step(1, 2)
    for (const changed of [
      { ...good, oldSignature: good.newSignature },
      { ...good, newSignature: good.oldSignature },
    ]) {
      expect(() => checkSuccession(changed, { now: NOW })).toThrow(
        expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' }),
      )
    }
  })

  it('of a key to itself is neither made nor read', () => {
    expect(() => step(1, 1)).toThrow(expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }))
  })

  it('meets any bytes with an error of ours', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.uint8Array({ minLength: SUCCESSION_BYTES, maxLength: SUCCESSION_BYTES }),
    )
    fc.assert(
      fc.property(bytes, (any) => {
        try {
          checkSuccession(decodeSuccession(any), { now: NOW })
        } catch (error) {
          if (isCtError(error)) return
          throw error
        }
        throw new Error('expected a refusal')
      }),
    )
  })

  it('comes in lists that are bounded', () => {
    const bytes = encodeSuccession(step(1, 2))
    const list = (count: number): unknown => Array.from({ length: count }, () => bytes)
    expect(parseSuccessions(undefined)).toEqual([])
    expect(parseSuccessions(list(MAX_SHOWN_SUCCESSIONS))).toHaveLength(MAX_SHOWN_SUCCESSIONS)
    for (const bad of [list(MAX_SHOWN_SUCCESSIONS + 1), bytes, ['x'], [new Uint8Array(3)], {}]) {
      expect(() => parseSuccessions(bad)).toThrow(expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }))
    }
  })
})

describe('the keys that stand for one', () => {
  const known = (...shown: readonly SignedSuccession[]): KnownSuccessions => {
    const made = new KnownSuccessions(CHANNEL)
    made.learn(id(1), 'operator', shown, NOW)
    return made
  }
  const standing = (successions: KnownSuccessions, now = NOW) => successions.standFor(id(1), 'operator', now)

  it('are itself, until it is known that another one took over', () => {
    expect(standing(known())).toEqual([id(1)])
    expect(standing(known(step(1, 2)))).toEqual([id(2), id(1)])
  })

  it('are no longer the old one when the overlap is over', () => {
    const successions = known(step(1, 2))
    expect(standing(successions, u64(1_999))).toEqual([id(2), id(1)])
    expect(standing(successions, u64(2_000))).toEqual([id(2)])
  })

  it(`are followed over at most ${MAX_SUCCESSIONS} changes`, () => {
    const steps = [1, 2, 3, 4, 5, 6].map((from) => step(from, from + 1))
    expect(standing(known(...steps))).toEqual([5, 4, 3, 2, 1].map(id))
  })

  for (const [name, shown] of [
    ['does not begin at a known key', [step(2, 3)]],
    ['leads back', [step(1, 2), step(2, 1)]],
    ['is for another channel', [step(1, 2, { channel: 'cd'.repeat(32) as ChannelId })]],
    ['is for an operator on every channel', [step(1, 2, { channel: EVERY_CHANNEL })]],
    ['is one of a member', [step(1, 2, { kind: 'holder' })]],
    ['is not signed by the new key', [{ ...step(1, 2), newSignature: step(1, 3).newSignature }]],
    ['comes from the future', [step(1, 2, { issuedAt: u64(1_061) })]],
  ] as const) {
    it(`are not changed by what ${name}`, () => {
      expect(standing(known(...shown)).filter((key) => key !== id(2) || name === 'leads back')).toEqual(
        name === 'leads back' ? [id(2), id(1)] : [id(1)],
      )
    })
  }

  it('are those that were learnt first, whatever else the old key signs later', () => {
    const successions = known(step(1, 2))
    successions.learn(id(1), 'operator', [step(1, 9)], NOW)
    expect(standing(successions)).toEqual([id(2), id(1)])
    expect(successions.from(id(1), 'operator')).toEqual([step(1, 2)])
  })

  it('of a member hold on this channel, and on every one', () => {
    for (const channel of [CHANNEL, EVERY_CHANNEL]) {
      const successions = new KnownSuccessions(CHANNEL)
      successions.learn(id(1), 'holder', [step(1, 2, { kind: 'holder', channel })], NOW)
      expect(successions.standFor(id(1), 'holder', NOW)).toEqual([id(2), id(1)])
    }
  })
})
