/**
 * The channel of a serving agent that is its own operator.
 *
 * Holds: the operator grants the agent's own key, the one whose seed is the secret of the ticket, keys of invitations,
 * and members. Who has a secret grants its own key the rest. A new secret is another key, so that old tickets are worth
 * nothing.
 *
 * @module
 */
import { type Credentials, type Rendezvous, type TrustPolicy } from '../../channel/index.ts'
import { attestNoiseKey, GRANT, type Membership } from '../../channel/membership/index.ts'
import { seal } from '../../core/artefact.ts'
import { type CtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type HolderKey, type NoiseKey } from '../../core/keys.ts'
import { U64_MAX, type UnixSeconds } from '../../core/u64.ts'

export interface OwnChannelOptions {
  /** Signs. */
  readonly operator: HolderKey
  /** The operator's first key, by which the channel is known, where another one signs today. */
  readonly first?: HolderId
  readonly channel: ChannelId
  readonly self: { readonly holder: HolderKey; readonly noise: NoiseKey }
  /** The key whose seed is the secret of the ticket. */
  readonly invited: HolderId
  /** The first second in which the ticket is no longer good. */
  readonly expiresAt: UnixSeconds
  /** Whom of those to whom the operator granted something it admits now. */
  readonly door: Door
}

export interface Door {
  readonly isRemoved: (holder: HolderId) => boolean
  readonly refusal: (membership: Membership) => CtError | undefined
}

export interface OwnChannel {
  readonly operator: HolderId
  readonly channel: ChannelId
  /** Of the agent itself. */
  readonly credentials: Credentials
  readonly trust: NonNullable<TrustPolicy['channel']>
  /** For the ticket. */
  readonly grant: Rendezvous['grant']
}

export function openOwnChannel(options: OwnChannelOptions): OwnChannel {
  const { operator, first = operator.id, channel, self, invited, expiresAt, door } = options
  const all = { channel, rights: 'rw' } as const
  const own = seal(
    GRANT,
    // Whoever has the operator's key has this one too: an end would only come as a surprise.
    { ...all, holder: self.holder.id, direction: 'accept', delegable: false, expiresAt: U64_MAX },
    operator.secret,
  )
  return {
    operator: first,
    channel,
    credentials: { grants: [own], attestation: attestNoiseKey(channel, self) },
    trust: { operator: first, channel, isRevoked: door.isRemoved, refusal: door.refusal },
    grant: seal(GRANT, { ...all, holder: invited, direction: 'initiate', delegable: true, expiresAt }, operator.secret),
  }
}
