/**
 * Ids of channels, which everybody can compute who knows the operator and the members.
 *
 * @module
 */
import { toHex } from '../../core/bytes.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { sha256 } from '../../core/keys.ts'
import { Preimage } from '../../core/preimage.ts'

/** The one channel of two members under an operator, whichever of them comes first. */
export function linkChannelId(operator: HolderId, one: HolderId, other: HolderId): ChannelId {
  // Hex digits sort as the bytes they stand for.
  const [first, second] = one < other ? [one, other] : [other, one]
  return hashed(new Preimage('ct-link-channel-v1', 'bare').id(operator).id(first).id(second))
}

export interface PipelineRole {
  readonly pipeline: string
  readonly role: string
}

/** The channel of everybody who has this role in the pipeline. */
export function pipelineChannelId(operator: HolderId, { pipeline, role }: PipelineRole): ChannelId {
  return hashed(new Preimage('ct-pipeline-role-channel-v1').id(operator).text(pipeline).text(role))
}

function hashed(preimage: Preimage): ChannelId {
  return toHex(sha256(preimage.bytes())) as ChannelId
}
