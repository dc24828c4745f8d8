/**
 * Members of a channel in processes of their own, as the process that starts them describes them.
 *
 * @module
 */

import { parseBroker } from '../../src/channel/broker-address.ts'
import { type BrokerPlace, type ChannelTrust, type SelfDescription, type SessionMode } from '../../src/channel/index.ts'
import { attestNoiseKey, decodeGrant } from '../../src/channel/membership/index.ts'
import { type ChannelId, type HolderId } from '../../src/core/ids.ts'
import { generateInstanceId, holderKey, noiseKey, SecretKey } from '../../src/core/keys.ts'

/** All in hex. */
export interface SoakMember {
  readonly operator: HolderId
  readonly channel: ChannelId
  readonly holderKey: string
  readonly noiseKey: string
  readonly grant: string
  /** As the broker prints it. */
  readonly broker: string
}

export interface ServerOrder extends SoakMember {
  /** Each execution appends a line to it. */
  readonly log: string
  /** Where it says that it may be dialled; nowhere leaves the relay. */
  readonly advertise: number | undefined
}

export interface CallerOrder extends SoakMember {
  /** Begins the key of every call. */
  readonly name: string
  readonly server: HolderId
  /** Calls at once. */
  readonly workers: number
  readonly deadlineMs: number
  /** Between two calls of one worker, at most. */
  readonly thinkMs: number
  /** A call takes so long at most. */
  readonly workMs: number
  readonly seed: number
}

/** What the process says of itself on a channel. */
export function soakSelf(member: SoakMember, mode: SessionMode, inFlight: number): SelfDescription {
  const keys = { holder: holderKey(secretOf(member.holderKey)), noise: noiseKey(secretOf(member.noiseKey)) }
  const credentials = {
    grants: [decodeGrant(Buffer.from(member.grant, 'hex'))],
    attestation: attestNoiseKey(member.channel, keys),
  }
  return {
    ...keys,
    run: generateInstanceId(),
    agent: 'soak/0',
    mode,
    limits: { messageBytes: 8_388_608, inFlight, idleSeconds: 0 },
    credentials: () => credentials,
  }
}

export function soakTrust({ operator, channel }: SoakMember): ChannelTrust {
  return { operator, channel }
}

export function placesOf({ broker }: SoakMember): readonly BrokerPlace[] {
  return broker.split(',').flatMap((text) => {
    const parsed = parseBroker(text)
    return 'value' in parsed ? [parsed.value] : []
  })
}

function secretOf(hex: string): SecretKey {
  return new SecretKey(Buffer.from(hex, 'hex'))
}
