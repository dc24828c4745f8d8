/**
 * The raw pipe: stdin to the peer, the peer to stdout.
 *
 * @module
 */
import { type Session } from '../../channel/index.ts'
import { CtError } from '../../core/errors.ts'
import { done } from '../calling/link-source.ts'
import { type Io, write } from '../io.ts'

/**
 * Pipes until both directions are at their end and acknowledged.
 *
 * Rejects with the reason the session ended, when it ended before.
 */
export async function runPipe(session: Session, { stdin, stdout }: Pick<Io, 'stdin' | 'stdout'>): Promise<void> {
  await session.ready
  session.watch(true)
  const { pipe } = session
  pipe.deliverTo({
    write: (bytes) => write(stdout, bytes),
    end: () => Promise.resolve(),
  })
  const sending = (async () => {
    for await (const chunk of stdin) await pipe.send(toBytes(chunk))
    pipe.sendEnd()
    await pipe.sentAll
  })()
  sending.catch(() => stdin.destroy())
  try {
    await Promise.all([sending, pipe.receivedAll])
    session.end(done())
  } catch (error) {
    session.end(new CtError('ERR_LINK_CLOSED', 'the peer stopped piping'))
    throw error
  }
}

function toBytes(chunk: string | Uint8Array): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk) : chunk
}
