/**
 * Remembered peers for tests, and where they are kept.
 *
 * @module
 */
import { type MemberPeer, type TicketPeer } from '../../../src/agent/peers/peer.ts'
import { type PeerName, parsePeerName } from '../../../src/agent/peers/peer-name.ts'
import { formatTicket } from '../../../src/channel/index.ts'
import { GRANT, type Grant, type SignedSuccession, sealSuccession } from '../../../src/channel/membership/index.ts'
import { sealStaple } from '../../../src/channel/membership/staple.ts'
import { type Sealed, seal } from '../../../src/core/artefact.ts'
import { type ChannelId } from '../../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../../src/core/keys.ts'
import { type UnixSeconds, u64 } from '../../../src/core/u64.ts'

export const OPERATOR = holderKey(SecretKey.generate())
export const SERVER = holderKey(SecretKey.generate())
export const SELF = holderKey(SecretKey.generate())
const INVITED = holderKey(SecretKey.generate())
export const CHANNEL = 'c7'.repeat(32) as ChannelId
export const NOW: UnixSeconds = u64(1_800_000_000)

export function named(text: string): PeerName {
  const parsed = parsePeerName(text)
  if ('problem' in parsed) throw new TypeError(parsed.problem)
  return parsed.value
}

export function documentOf(
  expiresAt: UnixSeconds,
  {
    grant = {},
    now = NOW,
    operator = OPERATOR.secret,
  }: { grant?: Partial<Grant>; now?: UnixSeconds; operator?: SecretKey } = {},
) {
  const body = { channel: CHANNEL, holder: SELF.id, direction: 'initiate', rights: 'rw', delegable: false } as const
  return {
    grant: plain(seal(GRANT, { ...body, expiresAt, ...grant }, operator)),
    staple: plain(sealStaple({ channel: CHANNEL, holder: SELF.id }, operator, now)),
    name: 'alice',
  }
}

/** As it is read from a file or a peer: nothing is known of it. */
function plain<Body>({ body, signature }: Sealed<Body>): Sealed<Body> {
  return { body, signature }
}

export const NEXT_OPERATOR = holderKey(SecretKey.generate())

/** The operator hands over to its next key. */
export function succession(overlapSeconds = 5_000n): SignedSuccession {
  return sealSuccession({
    channel: CHANNEL,
    kind: 'operator',
    issuedAt: NOW,
    overlapUntil: u64(NOW + overlapSeconds),
    oldKey: OPERATOR.secret,
    newKey: NEXT_OPERATOR.secret,
  })
}

export function memberPeer(more: Partial<MemberPeer> = {}): MemberPeer {
  const { grant, staple, name } = documentOf(u64(NOW + 10_000n))
  return {
    kind: 'member',
    holder: SERVER.id,
    addresses: [{ host: '203.0.113.5', port: 4433 }],
    proven: [],
    broker: [{ host: 'broker.example', port: 4435, transport: 'tcp' }],
    operator: OPERATOR.id,
    successions: [],
    invited: INVITED.id,
    grant,
    staple,
    renewedAt: NOW,
    knownAs: name,
    ...more,
  }
}

export function ticketPeer(more: Partial<TicketPeer> = {}): TicketPeer {
  const ticket = formatTicket({
    holder: SERVER.id,
    addresses: [{ host: '203.0.113.5', port: 4433 }],
    secret: new SecretKey(Buffer.alloc(32, 7)),
  })
  return { kind: 'ticket', ticket, proven: [], ...more }
}
