/**
 * `channel member-material` and `channel join-pipeline-role`: what a member hands to its operator.
 *
 * @module
 */
import { linkChannelId, NOISE_ATTESTATION, pipelineChannelId } from '../../channel/membership/index.ts'
import { seal } from '../../core/artefact.ts'
import { type ChannelId, type NoiseKeyId } from '../../core/ids.ts'
import { type HolderKey, holderKey as toHolder } from '../../core/keys.ts'
import { type Context } from '../command.ts'
import { notice } from '../io.ts'
import { printResult } from '../result.ts'
import { readRequired } from './required.ts'
import { MEMBER_MATERIAL, PIPELINE_ROLE } from './signing-settings.ts'

export async function memberMaterial({ io, env }: Context): Promise<number> {
  const { operator, bridgeHolder, holderKey, noisePublicKey } = readRequired(MEMBER_MATERIAL, env)
  const holder = toHolder(holderKey)
  if (bridgeHolder === holder.id) {
    const { name } = MEMBER_MATERIAL.bridgeHolder
    notice(io, `ct-agent channel: ${name} is this member’s own key: nobody else can be on this channel`)
  }
  const channel = linkChannelId(operator, holder.id, bridgeHolder)
  await printResult(io, columns(materialOf(channel, holder, noisePublicKey)))
  return 0
}

export async function joinPipelineRole({ io, env }: Context): Promise<number> {
  const { operator, pipeline, role, holderKey, noisePublicKey } = readRequired(PIPELINE_ROLE, env)
  const channel = pipelineChannelId(operator, { pipeline, role })
  const material = materialOf(channel, toHolder(holderKey), noisePublicKey)
  await printResult(io, columns({ pipeline_id: pipeline, role, ...material }))
  return 0
}

function materialOf(channel: ChannelId, holder: HolderKey, noiseKey: NoiseKeyId): Readonly<Record<string, string>> {
  const { signature } = seal(NOISE_ATTESTATION, { channel, holder: holder.id, noiseKey }, holder.secret)
  return { holder_pubkey: holder.id, noise_pubkey: noiseKey, channel_id: channel, noise_attestation: signature }
}

/** The lines that scripts read. */
function columns(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name.padEnd(NAME_COLUMNS)} = ${value}`)
    .join('\n')
}

const NAME_COLUMNS = 17
