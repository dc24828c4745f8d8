import { encode } from 'cborg'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { JOINS, REFUSALS } from '../../../src/channel/broker/admission.ts'
import { JOIN_MS } from '../../../src/channel/broker/member.ts'
import { MAX_MESSAGES } from '../../../src/channel/broker/member-link.ts'
import { GRANT, type Grant, NOISE_ATTESTATION } from '../../../src/channel/membership/index.ts'
import { encodeRendezvousFrame } from '../../../src/channel/rendezvous/framing.ts'
import { encodeFromMember, type Join, MAX_RENDEZVOUS_BYTES } from '../../../src/channel/rendezvous/messages.ts'
import { seal } from '../../../src/core/artefact.ts'
import { type ErrorCode } from '../../../src/core/errors.ts'
import { u64 } from '../../../src/core/u64.ts'
import { ALICE, BOB, clock, counters, EXPIRES, grantOf, Line, rooms, server, start, strangerKey } from './lines.ts'
import { CHANNEL, credentialsOf, joinOf, OTHER_CHANNEL } from './raw-member.ts'

beforeEach(() => start())

describe('a broker that is joined by the wrong', () => {
  const refusals: readonly {
    name: string
    changes: Partial<Join>
    code: ErrorCode
    category: string
    side?: Join['side']
  }[] = [
    {
      name: 'no grant',
      changes: { credentials: { ...credentialsOf(ALICE), grants: [] } },
      code: 'ERR_GRANT_INVALID',
      category: 'malformed',
    },
    {
      name: 'a grant of another operator',
      changes: { credentials: credentialsOf(ALICE, { operator: strangerKey, expiresAt: EXPIRES }) },
      code: 'ERR_GRANT_INVALID',
      category: 'grant-verify',
    },
    {
      name: 'a grant that has expired',
      changes: grantOf({ expiresAt: u64(0) }),
      code: 'ERR_GRANT_EXPIRED',
      category: 'grant-verify',
    },
    {
      name: 'a grant for another channel',
      changes: grantOf({ channel: OTHER_CHANNEL }),
      code: 'ERR_GRANT_INVALID',
      category: 'not-member',
    },
    {
      name: 'a grant for another holder',
      changes: grantOf({ holder: BOB.holder.id }),
      code: 'ERR_GRANT_INVALID',
      category: 'possession',
    },
    {
      name: 'a grant for the other side',
      changes: grantOf({ direction: 'initiate' }),
      code: 'ERR_GRANT_INVALID',
      category: 'pairing',
    },
    {
      name: 'an attestation of another Noise key',
      changes: {
        credentials: {
          ...credentialsOf(ALICE, { expiresAt: EXPIRES }),
          attestation: seal(
            NOISE_ATTESTATION,
            { channel: CHANNEL, holder: ALICE.holder.id, noiseKey: BOB.noise.id },
            ALICE.holder.secret,
          ).signature,
        },
      },
      code: 'ERR_GRANT_INVALID',
      category: 'possession',
    },
    {
      name: 'a grant that its holder passed on and was not to',
      changes: {
        credentials: {
          ...credentialsOf(ALICE, { expiresAt: EXPIRES }),
          grants: [
            ...credentialsOf(BOB, { expiresAt: EXPIRES }).grants,
            seal(GRANT, { ...grantBody(), holder: ALICE.holder.id }, BOB.holder.secret),
          ],
        },
      },
      code: 'ERR_GRANT_INVALID',
      category: 'grant-verify',
    },
    {
      name: 'an address with port 0',
      changes: { addresses: [{ host: '203.0.113.5', port: 0 }] },
      code: 'ERR_PEER_REFUSED',
      category: 'endpoint',
    },
  ]
  for (const { name, changes, code, category } of refusals) {
    it(`refuses ${name} as ${category}`, () => {
      const line = new Line(ALICE).join('accept', changes)
      expect(line.kinds).toEqual(['refused'])
      expect(line.refusal).toMatchObject({ code, category })
      expect(rooms.counts.acceptors).toBe(0)
      expect(counters.refusals.get(category)).toBe(1)
    })
  }

  it('refuses members of an operator that it does not serve', () => {
    start(new Set([strangerKey.id]))
    expect(new Line(ALICE).join('accept').refusal).toMatchObject({ code: 'ERR_PEER_REFUSED', category: 'not-member' })
  })

  it('takes nobody for the holder whose grant it shows', () => {
    const line = new Line(BOB)
    line.say(joinOf(ALICE, 'accept', { credentials: credentialsOf(ALICE, { expiresAt: EXPIRES }) }))
    expect(line.refusal).toMatchObject({ category: 'possession' })
  })
})

function grantBody(): Grant {
  return {
    holder: BOB.holder.id,
    channel: CHANNEL,
    direction: 'both',
    rights: 'rw',
    delegable: false,
    expiresAt: EXPIRES,
  }
}

const hugeLength = Buffer.alloc(4)
hugeLength.writeUInt32BE(MAX_RENDEZVOUS_BYTES + 1)

describe('a broker that is sent', () => {
  const streams: readonly { name: string; bytes: Uint8Array; code: ErrorCode; category: string }[] = [
    { name: 'HTTP', bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'), code: 'ERR_PROTOCOL', category: 'len-oob' },
    { name: 'a length beyond all messages', bytes: hugeLength, code: 'ERR_PROTOCOL', category: 'len-oob' },
    { name: 'an empty message', bytes: Buffer.alloc(4), code: 'ERR_PROTOCOL', category: 'len-oob' },
    { name: 'no CBOR', bytes: encodeRendezvousFrame(Uint8Array.of(0xff)), code: 'ERR_PROTOCOL', category: 'malformed' },
    { name: 'a number', bytes: encodeRendezvousFrame(encode(5)), code: 'ERR_PROTOCOL', category: 'malformed' },
    {
      name: 'a join of version 2',
      bytes: encodeRendezvousFrame(encode({ t: 'join', v: 2 })),
      code: 'ERR_VERSION_UNSUPPORTED',
      category: 'malformed',
    },
    {
      name: 'a join without anything',
      bytes: encodeRendezvousFrame(encode({ t: 'join', v: 1 })),
      code: 'ERR_PROTOCOL',
      category: 'malformed',
    },
  ]
  for (const { name, bytes, code, category } of streams) {
    it(`${name} says ${code} and ends the stream`, async () => {
      const line = new Line(ALICE)
      line.wire.deliver(bytes)
      expect(line.refusal).toMatchObject({ code, category })
      await Promise.resolve()
      expect(line.wire.isOpen).toBe(false)
      expect(server.uses(line.peer.connection)).toBe(false)
    })
  }

  it('any bytes at all survives, and has nothing left of them', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 100 }), { maxLength: 5 }), (chunks) => {
        const line = new Line(ALICE)
        for (const chunk of chunks) line.wire.deliver(chunk)
        line.wire.end()
        expect(server.uses(line.peer.connection)).toBe(false)
      }),
    )
  })

  it('a kind it does not know goes on', () => {
    const line = new Line(ALICE).join('accept')
    line.wire.deliver(encodeRendezvousFrame(encode({ t: 'later' })))
    expect(line.say({ kind: 'alive' }).kinds).toEqual(['joined', 'alive'])
  })

  it('a join in the same breath as one that is refused has no answer', () => {
    const line = new Line(ALICE)
    const joins = [line.ready('accept', grantOf({ expiresAt: u64(0) })), line.ready('accept')]
    line.wire.deliver(Buffer.concat(joins.map((join) => encodeRendezvousFrame(encodeFromMember(join)))))
    expect(line.kinds).toEqual(['refused'])
    expect([...counters.refusals.values()].reduce((sum, count) => sum + count)).toBe(1)
    expect(rooms.counts.acceptors).toBe(0)
  })

  it('a second join on a stream ends it', () => {
    const line = new Line(ALICE).join('accept').join('accept')
    expect(line.refusal).toMatchObject({ code: 'ERR_PROTOCOL', category: 'malformed' })
    expect(rooms.counts.acceptors).toBe(0)
  })

  it('more messages than a member has reason for ends the stream', () => {
    const line = new Line(ALICE).join('accept')
    for (let sent = 1; sent < MAX_MESSAGES; sent += 1) line.say({ kind: 'alive' })
    expect(line.refusal).toBeUndefined()
    expect(line.say({ kind: 'alive' }).refusal).toMatchObject({ code: 'ERR_PROTOCOL' })
  })
})

describe('a broker that is asked too often', () => {
  it('turns a source away that was refused often, says for how long, and no other', () => {
    for (let count = 0; count < REFUSALS.budget; count += 1)
      new Line(ALICE).join('accept', grantOf({ expiresAt: u64(0) }))
    clock.advance(20_000)
    const late = new Line(BOB).join('accept')
    expect(late.refusal).toMatchObject({ code: 'ERR_PEER_BUSY', category: 'busy', retryAfterMs: 40_000 })
    expect(new Line(BOB, { host: '198.51.100.7' }).join('accept').kinds).toEqual(['joined'])
    clock.advance(40_000)
    expect(new Line(ALICE).join('accept').kinds).toEqual(['joined'])
  })

  it('counts no refusal that coming again may mend', () => {
    for (let count = 0; count <= REFUSALS.budget; count += 1) new Line(ALICE)
    clock.advance(JOIN_MS + 1_000)
    expect(counters.refusals.get('busy')).toBe(REFUSALS.budget + 1)
    expect(new Line(BOB).join('accept').kinds).toEqual(['joined'])
  })

  it('leaves the seats of that source alone', () => {
    const seated = new Line(BOB).join('accept')
    for (let count = 0; count <= REFUSALS.budget; count += 1) new Line(ALICE).wire.deliver(hugeLength)
    expect(seated.say({ kind: 'alive' }).kinds).toEqual(['joined', 'alive'])
  })

  it('turns a holder away that joins without end', () => {
    const credentials = credentialsOf(ALICE, { expiresAt: EXPIRES })
    const lines = Array.from({ length: JOINS.budget + 1 }, () => new Line(ALICE).join('accept', { credentials }))
    expect(lines.at(-2)?.kinds[0]).toBe('joined')
    expect(lines.at(-1)?.refusal).toMatchObject({ code: 'ERR_PEER_BUSY' })
  })
})
