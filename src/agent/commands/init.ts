/**
 * `channel init` and `channel operator-init`: new keys, printed for `eval`.
 *
 * @module
 */
import { toHex } from '../../core/bytes.ts'
import { holderKey, noiseKey, SecretKey } from '../../core/keys.ts'
import { type Context } from '../command.ts'
import { write } from '../io.ts'

export async function channelInit({ io }: Context): Promise<number> {
  const holder = holderKey(SecretKey.generate())
  const noise = noiseKey(SecretKey.generate())
  await write(
    io.stdout,
    `# Agent-Fabric channel identity — generated locally, keep the private keys secret.
# Give these PUBLIC keys to the channel operator (to sign your grant / register):
#   holder_pubkey = ${holder.id}
#   noise_pubkey  = ${noise.id}
export CT_CHANNEL_HOLDER_KEY=${toHex(holder.secret.reveal())}
export CT_CHANNEL_NOISE_KEY=${toHex(noise.secret.reveal())}
#
# A peer of a direct channel trusts this member by one of:
#   CT_CHANNEL_PEER_HOLDER=${holder.id}
#   CT_CHANNEL_PEER_NOISE_KEY=${noise.id}
`,
  )
  return 0
}

export async function operatorInit({ io }: Context): Promise<number> {
  const operator = holderKey(SecretKey.generate())
  await write(
    io.stdout,
    `# Agent-Fabric channel OPERATOR identity — generated locally, keep the key secret.
# Register this PUBLIC key as the channel authority (POST /channel/register):
#   operator_pubkey = ${operator.id}
export CT_CHANNEL_OPERATOR_KEY=${toHex(operator.secret.reveal())}
`,
  )
  return 0
}
