/**
 * A channel for tests: its operator, credentials of members, and those that nobody may accept.
 *
 * @module
 */
import { type ChannelTrust } from '../../src/channel/admission.ts'
import { NOISE_ATTESTATION } from '../../src/channel/membership/attestation.ts'
import { type Credentials, type Side } from '../../src/channel/membership/credentials.ts'
import { GRANT, type Grant } from '../../src/channel/membership/grant.ts'
import { type Sealed, seal } from '../../src/core/artefact.ts'
import { toHex } from '../../src/core/bytes.ts'
import { type ErrorCode } from '../../src/core/errors.ts'
import { type ChannelId, type NoiseKeyId, type Signature } from '../../src/core/ids.ts'
import { type HolderKey, holderKey, type NoiseKey, noiseKey, SecretKey, sign } from '../../src/core/keys.ts'
import { U64_MAX, type UnixSeconds, u64 } from '../../src/core/u64.ts'

const secretOf = (byte: number): SecretKey => new SecretKey(new Uint8Array(32).fill(byte))

export const OPERATOR = holderKey(secretOf(0xe0))
export const CHANNEL = 'c4'.repeat(32) as ChannelId
export const OTHER_CHANNEL = 'c5'.repeat(32) as ChannelId
export const TRUST: ChannelTrust = { operator: OPERATOR.id, channel: CHANNEL }
/** Members between the operator and others, and somebody who is none. */
export const [ALICE, BOB, STRANGER] = [0xa1, 0xb0, 0x5a].map((byte) => holderKey(secretOf(byte))) as [
  HolderKey,
  HolderKey,
  HolderKey,
]
const OTHER_NOISE = noiseKey(secretOf(0x4e))

export interface Keys {
  readonly holder: HolderKey
  readonly noise: NoiseKey
}

export interface Link extends Partial<Omit<Grant, 'holder'>> {
  readonly holder: HolderKey
  /** The operator of the first link and the holder of the one before, unless another is named. */
  readonly signer?: HolderKey
}

/** Grants that allow all there is, for ever, unless a link says otherwise. */
export function chainOf(...links: readonly Link[]): readonly Sealed<Grant>[] {
  return links.map(({ holder, signer, ...changes }, index) => {
    const body: Grant = {
      channel: CHANNEL,
      direction: 'both',
      rights: 'rw',
      delegable: index < links.length - 1,
      expiresAt: U64_MAX,
      ...changes,
      holder: holder.id,
    }
    const { signature } = seal(GRANT, body, (signer ?? links[index - 1]?.holder ?? OPERATOR).secret)
    return { body, signature }
  })
}

export function attest(
  holder: HolderKey,
  noise: NoiseKeyId,
  { channel = CHANNEL, form = 'framed' }: { readonly channel?: ChannelId; readonly form?: 'framed' | 'bare' } = {},
): Signature {
  const preimage = NOISE_ATTESTATION.preimage({ channel, holder: holder.id, noiseKey: noise }, form)
  return toHex(sign(preimage, holder.secret)) as Signature
}

/** What makes these keys those of a member: by the operator's grant, unless other grants are given. */
export function credentialsOf({ holder, noise }: Keys, grants = chainOf({ holder })): Credentials {
  return { grants, attestation: attest(holder, noise.id) }
}

/** The member with what it shows. */
export function showing<Self extends Keys>(
  self: Self,
  credentials?: Credentials,
): Self & { credentials: () => Credentials } {
  const shown = credentials ?? credentialsOf(self)
  return { ...self, credentials: () => shown }
}

export interface BadCredentials {
  readonly name: string
  readonly make: (self: Keys, side: Side, now: UnixSeconds) => Credentials
  readonly code: ErrorCode
  readonly category: string
}

const other = (side: Side): Side => (side === 'initiate' ? 'accept' : 'initiate')

/** Grants that are wrong; the attestation fits. */
function badGrants(
  name: string,
  category: string,
  grants: (self: HolderKey, side: Side, now: UnixSeconds) => readonly Sealed<Grant>[],
  code: ErrorCode = 'ERR_GRANT_INVALID',
): BadCredentials {
  return { name, category, code, make: (self, ...rest) => credentialsOf(self, grants(self.holder, ...rest)) }
}

function badAttestation(name: string, attestation: (self: Keys) => Signature): BadCredentials {
  return {
    name,
    category: 'possession',
    code: 'ERR_GRANT_INVALID',
    make: (self) => ({ ...credentialsOf(self), attestation: attestation(self) }),
  }
}

const EXPIRED = 'ERR_GRANT_EXPIRED'

export const BAD_CREDENTIALS: readonly BadCredentials[] = [
  badGrants('a forged grant', 'grant-verify', (holder) => chainOf({ holder, signer: STRANGER })),
  badGrants('a grant that it signed itself', 'grant-verify', (holder) => chainOf({ holder, signer: holder })),
  badGrants('a changed grant', 'grant-verify', (holder) =>
    chainOf({ holder, rights: 'r' }).map(({ body, signature }) => ({ body: { ...body, rights: 'rw' }, signature })),
  ),
  badGrants(
    'a grant that expires now',
    'grant-verify',
    (holder, _, expiresAt) => chainOf({ holder, expiresAt }),
    EXPIRED,
  ),
  badGrants(
    'a grant that expired long ago',
    'grant-verify',
    (holder) => chainOf({ holder, expiresAt: u64(0) }),
    EXPIRED,
  ),
  badGrants('a grant of another channel', 'not-member', (holder) => chainOf({ holder, channel: OTHER_CHANNEL })),
  badGrants('a grant for the other side', 'pairing', (holder, side) => chainOf({ holder, direction: other(side) })),
  badGrants('the grant of somebody else', 'possession', () => chainOf({ holder: ALICE })),
  badGrants('somebody else behind its own grant', 'possession', (holder) => chainOf({ holder }, { holder: ALICE })),
  badGrants('a grant that may not be passed on', 'grant-verify', (holder) =>
    chainOf({ holder: ALICE, delegable: false }, { holder }),
  ),
  badGrants('a passed-on grant that may not be passed on again', 'grant-verify', (holder) =>
    chainOf({ holder: ALICE }, { holder: BOB, delegable: false }, { holder }),
  ),
  badGrants('a passed-on grant for both sides, of one', 'grant-verify', (holder, side) =>
    chainOf({ holder: ALICE, direction: side }, { holder }),
  ),
  badGrants('a passed-on grant for this side, of the other', 'grant-verify', (holder, side) =>
    chainOf({ holder: ALICE, direction: other(side) }, { holder, direction: side }),
  ),
  badGrants('a passed-on grant to write, of one to read', 'grant-verify', (holder) =>
    chainOf({ holder: ALICE, rights: 'r' }, { holder, rights: 'w' }),
  ),
  badGrants('a passed-on grant of both rights, of one', 'grant-verify', (holder) =>
    chainOf({ holder: ALICE }, { holder: BOB, rights: 'w' }, { holder, rights: 'rw' }),
  ),
  badGrants('a passed-on grant that lasts a second longer', 'grant-verify', (holder, _, now) =>
    chainOf({ holder: ALICE, expiresAt: u64(now + 1_000n) }, { holder, expiresAt: u64(now + 1_001n) }),
  ),
  badGrants(
    'a grant that rests on an expired one',
    'grant-verify',
    (holder, _, now) => chainOf({ holder: ALICE, expiresAt: now }, { holder, expiresAt: u64(now + 1n) }),
    EXPIRED,
  ),
  badGrants('a grant passed on by somebody who has none', 'grant-verify', (holder) =>
    chainOf({ holder: ALICE }, { holder, signer: BOB }),
  ),
  badGrants('a chain without its first link', 'grant-verify', (holder) =>
    chainOf({ holder: ALICE }, { holder: BOB }, { holder }).slice(1),
  ),
  badGrants('a chain without its middle', 'grant-verify', (holder) => {
    const [first, , last] = chainOf({ holder: ALICE }, { holder: BOB }, { holder })
    return first !== undefined && last !== undefined ? [first, last] : []
  }),
  badGrants('a chain that changes the channel', 'not-member', (holder) =>
    chainOf({ holder: ALICE, channel: OTHER_CHANNEL }, { holder }),
  ),
  badGrants('a chain that leads to another channel', 'not-member', (holder) =>
    chainOf({ holder: ALICE }, { holder, channel: OTHER_CHANNEL }),
  ),
  badAttestation('an attestation of another Noise key', ({ holder }) => attest(holder, OTHER_NOISE.id)),
  badAttestation('an attestation for another channel', ({ holder, noise }) =>
    attest(holder, noise.id, { channel: OTHER_CHANNEL }),
  ),
  badAttestation('an attestation of somebody else', ({ noise }) => attest(ALICE, noise.id)),
  badAttestation('an attestation in the legacy form', ({ holder, noise }) =>
    attest(holder, noise.id, { form: 'bare' }),
  ),
  badAttestation('an attestation of nothing', () => '00'.repeat(64) as Signature),
]

/** These do not even stand in a hello. */
export const MALFORMED: readonly BadCredentials[] = [
  badGrants('no grant', 'malformed', () => []),
  badGrants('one grant too many', 'malformed', (holder) =>
    chainOf({ holder: ALICE }, { holder: BOB }, { holder: STRANGER }, { holder }),
  ),
]
