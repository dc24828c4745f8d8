/**
 * `ct-agent channel` as a pipe.
 *
 * @module
 */
import { type Session } from '../../channel/index.ts'
import { CtError } from '../../core/errors.ts'
import { done } from '../calling/link-source.ts'
import { type Context } from '../command.ts'
import { onAbort, watchShutdown } from '../shutdown.ts'
import { type ChannelConfig } from './channel-side.ts'
import { openSource } from './channel-source.ts'
import { runPipe } from './raw-pipe.ts'

/** One session, until both directions are at their end. A signal ends it like a server: with a goodbye and 0. */
export async function pipeDirect(context: Context, config: ChannelConfig): Promise<number> {
  const shutdown = watchShutdown(context.io)
  const source = await openSource(context, config)
  let session: Session | undefined
  try {
    session = await source.open(shutdown.signal)
    const opened = session
    onAbort(shutdown.signal, () => opened.end(new CtError('ERR_PEER_SHUTDOWN', 'the peer is shutting down')))
    await runPipe(session, context.io)
    return 0
  } catch (error) {
    if (shutdown.signal.aborted) return 0
    throw error
  } finally {
    session?.end(done())
    await session?.finished
    await source.close(done())
    shutdown.dispose()
  }
}
