/**
 * `ct-agent channel` as a server.
 *
 * @module
 */
import { type Address, formatAddress, type Session } from '../../channel/index.ts'
import { type ErrorCode } from '../../core/errors.ts'
import { type Context } from '../command.ts'
import { notice } from '../io.ts'
import { type Observation, observe } from '../observing/observe.ts'
import { leaving, serveLoop } from '../serving/serve-loop.ts'
import { createServing, type Serving } from '../serving/serving.ts'
import { aborted, onAbort, watchShutdown } from '../shutdown.ts'
import { type ChannelConfig, type LocalSide } from './channel-side.ts'
import { announceBroker, brokerOptions, openSource } from './channel-source.ts'

type ServeSide = Extract<LocalSide, { kind: 'serve' }>

export async function serveDirect(context: Context, config: ChannelConfig, side: ServeSide): Promise<number> {
  const { io, env, clock, log, stateDir } = context
  const { role, self, path, trust } = config
  const { once, concurrency, peerSessions } = side
  const observation = observe(context, { command: 'channel', holder: self.holder.id })
  const { observing } = observation
  const serving = await createServing(side.plan, { io, env, clock, log, stateDir, holder: self.holder, observing })
  notice(io, `ct-agent channel: --serve mode (MCP-over-channel; tools: ${serving.toolNames.join(', ')})`)
  if (role === 'initiate') return serveDialling(context, config, serving, observation)
  const announce = (found: readonly Address[]): void => {
    const [where] = found
    if (path.via === 'broker') announceBroker(context, path, role, !once)
    if (where !== undefined) notice(io, `ct-agent channel: listening on ${formatAddress(where)} (responder)`)
    if (!once) notice(io, `ct-agent channel: persistent serve — up to ${concurrency} concurrent sessions`)
  }
  const how =
    path.via === 'broker'
      ? { listen: path.listen, broker: brokerOptions(context, path, role) }
      : { listen: [path.address] }
  return serveLoop(context, { self, ...how, trust, serving, observation, once, concurrency, peerSessions, announce })
}

/** Ends of a session that are nobody's failure. */
const ORDERLY: ReadonlySet<ErrorCode> = new Set(['ERR_LINK_CLOSED', 'ERR_PEER_SHUTDOWN', 'ERR_SESSION_IDLE'])

/** One session, dialled by the serving side. */
async function serveDialling(
  context: Context,
  config: ChannelConfig,
  serving: Serving,
  observation: Observation,
): Promise<number> {
  const { io, drainSeconds } = context
  const { path } = config
  const shutdown = watchShutdown(io)
  const { signal } = shutdown
  const source = await openSource(context, config)
  let session: Session | undefined
  try {
    session = await source.open(signal)
    const opened = session
    onAbort(signal, () => {
      if (!opened.isReady) opened.end(leaving())
    })
    await session.ready
    if (path.via === 'direct') {
      notice(io, `ct-agent channel: connected to ${formatAddress(path.address)} (initiator)`)
    }
    await observation.begin([])
    serving.attach(session)
    await Promise.race([aborted(signal), session.closed])
    await serving.drain(drainSeconds * 1_000)
    session.end(leaving())
    const { reason } = await session.closed
    if (ORDERLY.has(reason.code)) return 0
    throw reason
  } catch (error) {
    if (signal.aborted) return 0
    throw error
  } finally {
    session?.end(leaving())
    await session?.finished
    await serving.close()
    await observation.end()
    await source.close(leaving())
    shutdown.dispose()
  }
}
