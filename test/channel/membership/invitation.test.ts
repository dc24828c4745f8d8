import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  decodeInvitation,
  encodeInvitation,
  INVITATION,
  type Invitation,
  openInvitation,
  openRedemption,
  REDEMPTION,
  redemptionOf,
} from '../../../src/channel/membership/invitation.ts'
import { seal } from '../../../src/core/artefact.ts'
import { toHex } from '../../../src/core/bytes.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'
import { holderKey } from '../../../src/core/keys.ts'
import { u64 } from '../../../src/core/u64.ts'
import vectors from '../../vectors/channel.json' with { type: 'json' }
import { permissionFields, permissionOf } from './permissions.ts'
import { hex, idOf, itIsSafeOnTheWire, OPERATOR, secretOf } from './signed-wire.ts'

function invitationOf({ body }: (typeof vectors.invitations)[number]): Invitation {
  return { ...permissionOf(body), invitee: body.invitee as HolderId }
}

const INVITEE = holderKey(secretOf('06'.repeat(32)))
const HOLDER = holderKey(secretOf('03'.repeat(32))).id
const CHALLENGE = new Uint8Array(32).fill(0x5a)
const SAMPLE: Invitation = {
  channel: 'ab'.repeat(32) as ChannelId,
  invitee: INVITEE.id,
  direction: 'accept',
  rights: 'rw',
  delegable: false,
  expiresAt: u64(1_000),
}
const INVITED = seal(INVITATION, SAMPLE, OPERATOR.secret)
const invalid = expect.objectContaining({ code: 'ERR_SIGNATURE_INVALID' })

describe('a channel invitation', () => {
  for (const vector of vectors.invitations) {
    it(`${vector.name}`, () => {
      const sealed = seal(INVITATION, invitationOf(vector), secretOf(vector.operatorSeed))
      expect(Buffer.from(INVITATION.preimage(sealed.body, 'bare')).toString()).toBe(vector.text)
      expect(toHex(encodeInvitation(sealed))).toBe(vector.wire)
      const read = decodeInvitation(hex(vector.wire))
      expect(read.body).toEqual(invitationOf(vector))
      expect(openInvitation(read, { operator: vector.operator as HolderId, now: u64(0) }).form).toBe('current')
      expect(() => openInvitation(read, { operator: vector.operator as HolderId, now: read.body.expiresAt })).toThrow(
        expect.objectContaining({ code: 'ERR_ARTEFACT_EXPIRED' }),
      )
    })
  }

  itIsSafeOnTheWire<Invitation>({
    kind: INVITATION,
    length: 139,
    bodies: fc.record({ ...permissionFields, invitee: idOf<HolderId>() }),
    sample: SAMPLE,
    now: u64(0),
    encode: encodeInvitation,
    decode: decodeInvitation,
    open: (sealed) => openInvitation(sealed, { operator: OPERATOR.id, now: u64(0) }),
  })

  it('says what is malformed', () => {
    expect(() => decodeInvitation(new Uint8Array(138))).toThrow(
      'channel invitation bytes malformed: expected 139 bytes, found 138',
    )
  })
})

describe('a redemption', () => {
  for (const vector of vectors.redemptions) {
    it(`${vector.name}`, () => {
      const source = vectors.invitations.find(
        ({ body }) => body.channel === vector.channel && body.invitee === vector.invitee,
      )
      if (source === undefined) throw new Error('expected an invitation for the redemption')
      const invitation = seal(INVITATION, invitationOf(source), secretOf(source.operatorSeed))
      const holder = vector.holder as HolderId
      const challenge = vector.challenge === undefined ? undefined : hex(vector.challenge)
      const body = redemptionOf(invitation, holder, challenge)
      expect(toHex(REDEMPTION.preimage(body, 'bare'))).toBe(vector.preimage)
      const { signature } = seal(REDEMPTION, body, secretOf(vector.inviteeSeed))
      expect(signature).toBe(vector.signature)
      expect(openRedemption({ holder, signature }, invitation, challenge)).toEqual({ body, signature, form: 'current' })
    })
  }

  const { signature } = seal(REDEMPTION, redemptionOf(INVITED, HOLDER, CHALLENGE), INVITEE.secret)
  const refusals: readonly { name: string; open: () => unknown }[] = [
    { name: 'without the challenge', open: () => openRedemption({ holder: HOLDER, signature }, INVITED) },
    {
      name: 'with another challenge',
      open: () => openRedemption({ holder: HOLDER, signature }, INVITED, new Uint8Array(32)),
    },
    {
      name: 'for another holder',
      open: () => openRedemption({ holder: INVITEE.id, signature }, INVITED, CHALLENGE),
    },
    {
      name: 'for another channel',
      open: () =>
        openRedemption(
          { holder: HOLDER, signature },
          seal(INVITATION, { ...SAMPLE, channel: 'cd'.repeat(32) as ChannelId }, OPERATOR.secret),
          CHALLENGE,
        ),
    },
    {
      name: 'by somebody else than the invited',
      open: () =>
        openRedemption(
          {
            holder: HOLDER,
            signature: seal(REDEMPTION, redemptionOf(INVITED, HOLDER, CHALLENGE), OPERATOR.secret).signature,
          },
          INVITED,
          CHALLENGE,
        ),
    },
  ]
  for (const { name, open } of refusals) {
    it(`is refused ${name}`, () => {
      expect(() => openRedemption({ holder: HOLDER, signature }, INVITED, CHALLENGE)).not.toThrow()
      expect(open).toThrow(invalid)
    })
  }

  it('that answers no challenge is refused where there is one', () => {
    const claim = {
      holder: HOLDER,
      signature: seal(REDEMPTION, redemptionOf(INVITED, HOLDER), INVITEE.secret).signature,
    }
    openRedemption(claim, INVITED)
    expect(() => openRedemption(claim, INVITED, CHALLENGE)).toThrow(invalid)
  })

  it('signs different bytes for different bodies, and only then', () => {
    const challenges = fc.option(fc.constantFrom(new Uint8Array(32), CHALLENGE), { nil: undefined })
    const bodies = fc
      .tuple(idOf<ChannelId>(), idOf<HolderId>(), idOf<HolderId>(), challenges)
      .map(([channel, invitee, holder, challenge]) =>
        challenge === undefined ? { channel, invitee, holder } : { channel, invitee, holder, challenge },
      )
    fc.assert(
      fc.property(bodies, bodies, (one, other) => {
        const same = toHex(REDEMPTION.preimage(one, 'bare')) === toHex(REDEMPTION.preimage(other, 'bare'))
        expect(same).toBe(JSON.stringify(one) === JSON.stringify(other))
      }),
      { numRuns: 500 },
    )
  })
})
