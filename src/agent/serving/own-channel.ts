/**
 * The channel of a serving agent that is its own operator: whoever has its ticket is a member.
 *
 * Holds: the operator grants two keys alone, the agent's own and the one whose seed is the secret of the ticket. Who has
 * the secret grants its own key the rest. A new secret is another key, so that old tickets are worth nothing.
 *
 * @module
 */
import { type Credentials, type Rendezvous, type TrustPolicy } from '../../channel/index.ts'
import { attestNoiseKey, GRANT } from '../../channel/membership/index.ts'
import { seal } from '../../core/artefact.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type HolderKey, holderKey, type NoiseKey, type SecretKey } from '../../core/keys.ts'
import { U64_MAX, type UnixSeconds } from '../../core/u64.ts'

export interface OwnChannelOptions {
  readonly operator: SecretKey
  readonly channel: ChannelId
  readonly self: { readonly holder: HolderKey; readonly noise: NoiseKey }
  readonly ticketSecret: SecretKey
  /** The first second in which the ticket is no longer good. */
  readonly expiresAt: UnixSeconds
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
  const { channel, self, expiresAt } = options
  const operator = holderKey(options.operator)
  const invited = holderKey(options.ticketSecret).id
  const all = { channel, rights: 'rw' } as const
  const own = seal(
    GRANT,
    // Whoever has the operator's key has this one too: an end would only come as a surprise.
    { ...all, holder: self.holder.id, direction: 'accept', delegable: false, expiresAt: U64_MAX },
    operator.secret,
  )
  return {
    operator: operator.id,
    channel,
    credentials: { grants: [own], attestation: attestNoiseKey(channel, self) },
    trust: { operator: operator.id, channel, roots: new Set([invited]) },
    grant: seal(GRANT, { ...all, holder: invited, direction: 'initiate', delegable: true, expiresAt }, operator.secret),
  }
}
