/**
 * Sessions of a channel, from the side of it that this process is.
 *
 * @module
 */
import { type BrokerOptions, formatAddress, formatBroker } from '../../channel/index.ts'
import { KnownRevocations } from '../../channel/membership/index.ts'
import { acceptingSource, diallingSource, type LinkSource } from '../calling/link-source.ts'
import { type Context } from '../command.ts'
import { notice } from '../io.ts'
import { followRevocationFile } from '../revocation-file.ts'
import { BrokerNotices } from './broker-notices.ts'
import { type ChannelConfig, type ChannelPath } from './channel-side.ts'

type BrokeredPath = Extract<ChannelPath, { via: 'broker' }>

export async function openSource(context: Context, { role, self, path, trust }: ChannelConfig): Promise<LinkSource> {
  const { io, clock, log } = context
  if (path.via === 'broker') {
    const broker = brokerOptions(context, path, role)
    announceBroker(context, path, role, false)
    if (role === 'initiate') return diallingSource(self, { addresses: [], trust }, clock, broker)
    return acceptingSource({ self, listen: path.listen, trust, clock, log, broker })
  }
  const { address } = path
  if (role === 'initiate') return diallingSource(self, { addresses: [address], trust }, clock)
  const source = await acceptingSource({ self, listen: [address], trust, clock, log })
  const [where = address] = source.addresses
  notice(io, `ct-agent channel: listening on ${formatAddress(where)} (responder)`)
  return source
}

/** The broker, with somebody who tells people what goes on there. */
export function brokerOptions(
  { io, random, clock, log }: Context,
  { broker, revocationFile, successions }: BrokeredPath,
  role: ChannelConfig['role'],
): BrokerOptions {
  const notices = new BrokerNotices(io, role)
  const revocations = new KnownRevocations({ ...broker, clock })
  revocations.follow(successions)
  if (revocationFile !== undefined) followRevocationFile(revocationFile, revocations, log)
  return { ...broker, revocations, random, onState: (state) => notices.tell(state) }
}

/** The first line of the original. */
export function announceBroker(
  { io }: Context,
  { broker }: BrokeredPath,
  role: ChannelConfig['role'],
  isPersistent: boolean,
): void {
  const [relay] = broker.relay.length === 0 ? broker.broker : broker.relay
  const where = relay === undefined ? '' : ` (relay ${formatBroker(relay)})`
  const suffix = isPersistent ? ' — persistent serve: concurrent sessions (#200)' : ''
  notice(io, `ct-agent channel: plane-brokered ${role === 'accept' ? 'Accept' : 'Initiate'}${where}${suffix}`)
}
