import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeGrant, encodeGrant, GRANT, type Grant, openGrant } from '../../../src/channel/membership/grant.ts'
import { INVITATION, openInvitation } from '../../../src/channel/membership/invitation.ts'
import { seal } from '../../../src/core/artefact.ts'
import { toHex } from '../../../src/core/bytes.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { U64_MAX, u64 } from '../../../src/core/u64.ts'
import vectors from '../../vectors/channel.json' with { type: 'json' }
import { permissionFields, permissionOf } from './permissions.ts'
import { hex, idOf, itIsSafeOnTheWire, OPERATOR, secretOf } from './signed-wire.ts'

type GrantVector = (typeof vectors.grants)[number]

function grantOf({ body }: GrantVector): Grant {
  return { ...permissionOf(body), holder: body.holder as HolderId }
}

const [SAMPLE_VECTOR] = vectors.grants
if (SAMPLE_VECTOR === undefined) throw new Error('expected vectors')
const SAMPLE = grantOf(SAMPLE_VECTOR)

describe('a channel grant', () => {
  for (const vector of vectors.grants) {
    it(`${vector.name}`, () => {
      const operator = vector.operator as HolderId
      const sealed = seal(GRANT, grantOf(vector), secretOf(vector.operatorSeed))
      expect(Buffer.from(GRANT.preimage(sealed.body, 'framed')).toString()).toBe(vector.text)
      expect(Buffer.from(GRANT.preimage(sealed.body, 'bare')).toString()).toBe(vector.text)
      expect(toHex(encodeGrant(sealed))).toBe(vector.wire)
      const read = decodeGrant(hex(vector.wire))
      expect(read).toEqual({ body: grantOf(vector), signature: sealed.signature })
      if (read.body.expiresAt === 0n) {
        expect(() => openGrant(read, { operator, now: u64(0) })).toThrow(
          expect.objectContaining({ code: 'ERR_ARTEFACT_EXPIRED' }),
        )
      } else {
        expect(openGrant(read, { operator, now: u64(read.body.expiresAt - 1n) })).toEqual({ ...read, form: 'current' })
      }
      for (const now of vector.validAt ?? []) {
        expect(openGrant(read, { operator, now: u64(now) }).body).toEqual(read.body)
      }
      for (const now of vector.expiredAt ?? []) {
        expect(() => openGrant(read, { operator, now: u64(now) })).toThrow(
          expect.objectContaining({ code: 'ERR_ARTEFACT_EXPIRED' }),
        )
      }
    })
  }

  describe(vectors.malformedGrants.name, () => {
    for (const [name, wire] of Object.entries(vectors.malformedGrants.wires)) {
      it(`is refused as malformed: ${name}`, () => {
        expect(() => decodeGrant(hex(wire))).toThrow(
          expect.objectContaining({
            code: 'ERR_ARTEFACT_INVALID',
            message: expect.stringMatching(/^channel grant bytes malformed: expected /),
          }),
        )
      })
    }
  })

  itIsSafeOnTheWire<Grant>({
    kind: GRANT,
    length: 139,
    bodies: fc.record({ ...permissionFields, holder: idOf<HolderId>() }),
    sample: SAMPLE,
    now: u64(0),
    encode: encodeGrant,
    decode: decodeGrant,
    open: (sealed) => openGrant(sealed, { operator: OPERATOR.id, now: u64(0) }),
  })

  const unknown = [
    { field: 'direction', at: 128, known: [1, 2, 3] },
    { field: 'rights', at: 129, known: [1, 2, 3] },
    { field: 'delegable', at: 130, known: [0, 1] },
  ]
  for (const { field, at, known } of unknown) {
    it(`knows no ${field} but ${known.join(', ')}`, () => {
      const wire = encodeGrant(seal(GRANT, SAMPLE, OPERATOR.secret))
      for (let byte = 0; byte < 256; byte += 1) {
        wire[at] = byte
        if (known.includes(byte)) decodeGrant(wire)
        else expect(() => decodeGrant(wire)).toThrow(expect.objectContaining({ code: 'ERR_ARTEFACT_INVALID' }))
      }
    })
  }

  it('holds in every second before the one in which it expires, to the last digit', () => {
    for (const expiresAt of [1n, 2n ** 53n + 1n, U64_MAX]) {
      const sealed = seal(GRANT, { ...SAMPLE, expiresAt: u64(expiresAt) }, OPERATOR.secret)
      openGrant(sealed, { operator: OPERATOR.id, now: u64(expiresAt - 1n) })
      expect(() => openGrant(sealed, { operator: OPERATOR.id, now: u64(expiresAt) })).toThrow(
        expect.objectContaining({ code: 'ERR_ARTEFACT_EXPIRED' }),
      )
    }
  })

  it('is refused of another operator, and as an invitation with the same terms', () => {
    const sealed = seal(GRANT, SAMPLE, OPERATOR.secret)
    const { holder, ...terms } = SAMPLE
    const invalid = expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' })
    expect(() => openGrant(sealed, { operator: holder, now: u64(0) })).toThrow(invalid)
    const asInvitation = { body: { ...terms, invitee: holder }, signature: sealed.signature }
    expect(() => openInvitation(asInvitation, { operator: OPERATOR.id, now: u64(0) })).toThrow(invalid)
    expect(INVITATION.name).not.toBe(GRANT.name)
  })
})
