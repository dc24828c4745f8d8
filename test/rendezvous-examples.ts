/**
 * The messages of docs/rendezvous.md, made by the program.
 *
 * @module
 */
import { NOISE_ATTESTATION } from '../src/channel/membership/attestation.ts'
import { GRANT } from '../src/channel/membership/grant.ts'
import { sealRevocations } from '../src/channel/membership/revocations.ts'
import { sealSuccession } from '../src/channel/membership/succession.ts'
import { type FromBroker, type FromMember, type Join } from '../src/channel/rendezvous/messages.ts'
import { type Sealed, seal } from '../src/core/artefact.ts'
import { type ChannelId } from '../src/core/ids.ts'
import { holderKey, noiseKey, SecretKey } from '../src/core/keys.ts'
import { u64 } from '../src/core/u64.ts'

const secretOf = (byte: number): SecretKey => new SecretKey(new Uint8Array(32).fill(byte))
const OPERATOR = holderKey(secretOf(1))
const [CALLER, SERVER] = [holderKey(secretOf(2)), holderKey(secretOf(3))]
const CHANNEL = 'c4'.repeat(32) as ChannelId

function bare<Body>({ body, signature }: Sealed<Body>): Sealed<Body> {
  return { body, signature }
}

const GRANT_OF_CALLER = seal(
  GRANT,
  {
    channel: CHANNEL,
    holder: CALLER.id,
    direction: 'initiate',
    rights: 'rw',
    delegable: false,
    expiresAt: u64(2_000_000_000),
  },
  OPERATOR.secret,
)
const JOIN: Join = {
  kind: 'join',
  operator: OPERATOR.id,
  channel: CHANNEL,
  side: 'initiate',
  credentials: {
    grants: [bare(GRANT_OF_CALLER)],
    attestation: seal(
      NOISE_ATTESTATION,
      { channel: CHANNEL, holder: CALLER.id, noiseKey: noiseKey(secretOf(4)).id },
      CALLER.secret,
    ).signature,
  },
  addresses: [],
}
const LIST = bare(
  sealRevocations(
    { channel: CHANNEL, sequence: u64(1_900_000_000), issuedAt: u64(1_900_000_000), removed: [SERVER.id] },
    OPERATOR.secret,
  ),
)

/** The operator’s key of the other examples hands over to another, which signs the list. */
const NEXT = secretOf(5)
const SUCCESSION = sealSuccession({
  channel: CHANNEL,
  kind: 'operator',
  issuedAt: u64(1_900_000_000),
  overlapUntil: u64(1_902_592_000),
  oldKey: OPERATOR.secret,
  newKey: NEXT,
})
const LATER = bare(
  sealRevocations({ channel: CHANNEL, sequence: u64(1_900_000_001), issuedAt: u64(1_900_000_001), removed: [] }, NEXT),
)

export const FROM_MEMBER: Readonly<Record<string, FromMember>> = {
  'join-initiate': { ...JOIN, knows: u64(1_900_000_000) },
  'join-watch': { ...JOIN, watches: true },
  load: { kind: 'load', taken: 3, places: 8 },
  alive: { kind: 'alive' },
  publish: { kind: 'publish', operator: OPERATOR.id, channel: CHANNEL },
  revoked: { kind: 'revoked', list: LIST },
  'revoked-successor': { kind: 'revoked', list: LATER, successions: [SUCCESSION] },
}

export const FROM_BROKER: Readonly<Record<string, FromBroker>> = {
  joined: { kind: 'joined', observed: { host: '203.0.113.5', port: 50_000 }, waitSeconds: 30 },
  peer: {
    kind: 'peer',
    holder: SERVER.id,
    addresses: [
      { host: '198.51.100.7', port: 4_433 },
      { host: '2001:db8::7', port: 4_433 },
    ],
  },
  expired: { kind: 'expired' },
  hint: { kind: 'hint', text: 'nobody accepts on this channel yet' },
  refused: {
    kind: 'refused',
    code: 'ERR_PEER_BUSY',
    category: 'busy',
    reason: 'the broker has no seat left',
    retryAfterMs: 5_000,
  },
  'refused-removed': {
    kind: 'refused',
    code: 'ERR_MEMBER_REMOVED',
    category: 'not-member',
    reason: `the operator removed ${CALLER.id}`,
  },
  noted: { kind: 'noted', sequence: u64(1_900_000_000) },
}
