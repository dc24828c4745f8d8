/**
 * `ct-agent channel`: joins a channel as the variables say.
 *
 * @module
 */
import { CHANNEL_ENV } from '../../channel/index.ts'
import { BROKERED_ENV } from '../../channel/rendezvous/config.ts'
import { type Context } from '../command.ts'
import { readBrokeredConfig } from '../direct/brokered-config.ts'
import { type ChannelConfig } from '../direct/channel-side.ts'
import { callDirect } from '../direct/direct-call.ts'
import { readDirectConfig } from '../direct/direct-config.ts'
import { callLines } from '../direct/direct-lines.ts'
import { pipeDirect } from '../direct/direct-pipe.ts'
import { serveDirect } from '../direct/direct-serve.ts'
import { notice } from '../io.ts'

export async function channel(context: Context): Promise<number> {
  if (context.env[CHANNEL_ENV.peerCert.name] !== undefined) {
    context.log.debug('channel.setting_unused', { variable: CHANNEL_ENV.peerCert.name })
  }
  const config = await readConfig(context)
  for (const line of config.notices) notice(context.io, `ct-agent channel: ${line}`)
  const { side } = config
  switch (side.kind) {
    case 'serve':
      return serveDirect(context, config, side)
    case 'call-lines':
      return callLines(context, config, side)
    case 'call-method':
    case 'call-once':
      return callDirect(context, config, side)
    case 'pipe':
      return pipeDirect(context, config)
  }
}

async function readConfig({ env, clock, stateDir }: Context): Promise<ChannelConfig> {
  const { broker, frontDoor } = BROKERED_ENV
  if ([broker, frontDoor].every(({ name }) => (env[name] ?? '').trim() === '')) return readDirectConfig(env, clock)
  return readBrokeredConfig(env, { clock, stateDir })
}
