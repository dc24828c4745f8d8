/**
 * `ct-agent channel` as a server.
 *
 * @module
 */
import { formatAddress, listen } from '../channel/index.ts'
import { CtError, type ErrorCode } from '../core/errors.ts'
import { type Context } from './command.ts'
import { type DirectConfig, type LocalSide } from './direct-config.ts'
import { notice } from './io.ts'
import { diallingSource } from './link-source.ts'
import { createServing, type Serving } from './serving.ts'
import { aborted, watchShutdown } from './shutdown.ts'

type ServeSide = Extract<LocalSide, { kind: 'serve' }>

export async function serveDirect(context: Context, config: DirectConfig, side: ServeSide): Promise<number> {
  const { io, env, clock, log } = context
  const serving = createServing(side.plan, { env, clock, log })
  notice(io, `ct-agent channel: --serve mode (MCP-over-channel; tools: ${serving.toolNames.join(', ')})`)
  return config.role === 'accept'
    ? serveAccepting(context, config, side, serving)
    : serveDialling(context, config, serving)
}

async function serveAccepting(
  context: Context,
  { self, address, trust }: DirectConfig,
  { once, concurrency }: ServeSide,
  serving: Serving,
): Promise<number> {
  const { io, clock, log } = context
  const shutdown = watchShutdown(io)
  const firstEnded = Promise.withResolvers<void>()
  const listener = await listen({
    self,
    listen: [address],
    trust,
    maxSessions: once ? 1 : concurrency,
    onSession: (session) => {
      serving.attach(session)
      void session.closed.then(() => firstEnded.resolve())
    },
    clock,
    log,
  })
  const [where = address] = listener.addresses
  notice(io, `ct-agent channel: listening on ${formatAddress(where)} (responder)`)
  if (!once) notice(io, `ct-agent channel: persistent serve — up to ${concurrency} concurrent sessions`)
  await Promise.race([aborted(shutdown.signal), ...(once ? [firstEnded.promise] : [])])
  const reason = new CtError('ERR_PEER_SHUTDOWN', 'the serving agent is shutting down')
  listener.stopAccepting(reason)
  await serving.drain(context.drainSeconds * 1_000)
  await listener.close(reason)
  await serving.close()
  shutdown.dispose()
  return 0
}

/** Ends of a session that are nobody's failure. */
const ORDERLY: ReadonlySet<ErrorCode> = new Set(['ERR_LINK_CLOSED', 'ERR_PEER_SHUTDOWN', 'ERR_SESSION_IDLE'])

/** One session, dialled by the serving side. */
async function serveDialling(
  context: Context,
  { self, address, trust }: DirectConfig,
  serving: Serving,
): Promise<number> {
  const { io, clock } = context
  const shutdown = watchShutdown(io)
  const source = await diallingSource(self, { addresses: [address], trust }, clock)
  try {
    const session = await source.open(shutdown.signal)
    await session.ready
    notice(io, `ct-agent channel: connected to ${formatAddress(address)} (initiator)`)
    serving.attach(session)
    await Promise.race([aborted(shutdown.signal), session.closed])
    await serving.drain(context.drainSeconds * 1_000)
    session.end(new CtError('ERR_PEER_SHUTDOWN', 'the serving agent is shutting down'))
    await session.finished
    const { reason } = await session.closed
    if (ORDERLY.has(reason.code)) return 0
    throw reason
  } finally {
    await serving.close()
    await source.close(new CtError('ERR_PEER_SHUTDOWN', 'the serving agent is shutting down'))
    shutdown.dispose()
  }
}
