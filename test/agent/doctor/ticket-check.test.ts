import { describe, expect, it } from 'vitest'
import { checkTicket } from '../../../src/agent/doctor/ticket-check.ts'
import { type MemberPeer } from '../../../src/agent/peers/peer.ts'
import { type Ticket } from '../../../src/channel/index.ts'
import { GRANT, type Grant } from '../../../src/channel/membership/index.ts'
import { type Sealed, seal } from '../../../src/core/artefact.ts'
import { toHex } from '../../../src/core/bytes.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type ChannelId } from '../../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { type UnixSeconds, u64 } from '../../../src/core/u64.ts'

const NOW: UnixSeconds = u64(1_800_000_000)
const operator = holderKey(SecretKey.generate())
const own = holderKey(SecretKey.generate())
const secret = SecretKey.generate()

function grant(seconds: number, signer = operator.secret): Sealed<Grant> {
  const channel = toHex(SecretKey.generate().reveal()) as ChannelId
  const expiresAt = u64(1_800_000_000 + seconds)
  const body = { channel, holder: own.id, direction: 'initiate', rights: 'rw', delegable: true, expiresAt } as const
  return seal(GRANT, body, signer)
}

function ticket(rendezvous?: Ticket['rendezvous']): Ticket {
  const where = { holder: operator.id, addresses: [{ host: '127.0.0.1', port: 1 }], secret }
  return rendezvous === undefined ? where : { ...where, rendezvous }
}

const meeting = (given: Sealed<Grant>) => ({ broker: [], operator: operator.id, grant: given })
const DAY = 86_400

function check(given: Ticket | CtError | Sealed<Grant> | undefined, holder = own.id): string {
  const facts = { now: NOW, holder }
  if (given === undefined || given instanceof CtError) return checkTicket(given, facts).code
  if ('signature' in given) {
    const peer = { kind: 'member', holder: operator.id, grant: given } as unknown as MemberPeer
    return checkTicket({ given: 'x', ticket: undefined, peer }, facts).code
  }
  return checkTicket({ given: 'x', ticket: given, peer: undefined }, facts).code
}

describe('the doctor, of what leads to a peer', () => {
  for (const [what, given, code] of [
    ['nothing', undefined, 'ticket.skipped'],
    ['a name of nobody', new CtError('ERR_PEER_UNKNOWN', 'x'), 'ticket.unknown_peer'],
    ['a ticket that cannot be read', new CtError('ERR_TICKET_INVALID', 'x'), 'ticket.invalid'],
    ['a ticket without an end', ticket(), 'ticket.ok'],
    ['a ticket for long', ticket(meeting(grant(2 * DAY))), 'ticket.ok'],
    ['a ticket for a day', ticket(meeting(grant(DAY))), 'ticket.ends_soon'],
    ['a ticket that has just ended', ticket(meeting(grant(0))), 'ticket.expired'],
    ['a ticket signed by another', ticket(meeting(grant(DAY, secret))), 'ticket.invalid'],
    ['an invitation', ticket({ ...meeting(grant(60)), isInvitation: true }), 'ticket.invitation'],
    ['an invitation that has ended', ticket({ ...meeting(grant(-1)), isInvitation: true }), 'ticket.expired'],
    ['a membership', grant(60), 'ticket.ok'],
    ['a membership that has ended', grant(0), 'ticket.expired'],
  ] as const) {
    it(`finds ${code} for ${what}`, () => {
      expect(check(given)).toBe(code)
    })
  }

  it('finds a membership of another key', () => {
    expect(check(grant(60), operator.id)).toBe('ticket.not_ours')
  })
})
