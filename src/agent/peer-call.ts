/**
 * One session to the peer of a ticket, for commands that ask something and go.
 *
 * @module
 */
import { createDialler, parseTicket, type Session, type Ticket } from '../channel/index.ts'
import { type EnvProblem, readEnv, refuseProblems } from '../core/env.ts'
import { holderKey, SecretKey } from '../core/keys.ts'
import { createMcpClient, type McpClient } from '../mcp/index.ts'
import { CALL_ENV } from './call-settings.ts'
import { type Context } from './command.ts'
import { done, timeLimit } from './link-source.ts'
import { describeSelf, type Keys, keptKeys, readChannel } from './member.ts'
import { withProgress } from './progress.ts'
import { watchShutdown } from './shutdown.ts'

export interface PeerCall {
  readonly client: McpClient
  /** For each request: the time limit, and the signal that ends it on SIGINT or SIGTERM. */
  readonly request: { readonly timeoutMs: number; readonly signal: AbortSignal }
}

/** Opens a session to the peer of the ticket, asks, and says goodbye whatever came of it. */
export async function withPeer<Result>(
  context: Context,
  ticketText: string,
  ask: (call: PeerCall) => Promise<Result>,
): Promise<Result> {
  const { io, env, clock, log, stateDir } = context
  const ticket = parseTicket(ticketText)
  const problems: EnvProblem[] = []
  const values = readChannel(env, problems)
  const { timeoutSeconds } = readEnv(CALL_ENV, env, problems)
  refuseProblems(problems)
  const self = describeSelf(callerKeys(keptKeys(values, stateDir), ticket), values, 'call')
  const dialler = await createDialler(self, clock)
  const shutdown = watchShutdown(io)
  const timeoutMs = timeoutSeconds * 1_000
  let session: Session | undefined
  try {
    const { addresses, holder, secret } = ticket
    const target = {
      addresses,
      trust: { holders: new Set([holder]) },
      ...(secret === undefined ? {} : { ticketSecret: secret }),
    }
    const signal = AbortSignal.any([shutdown.signal, timeLimit(timeoutMs)])
    session = await withProgress(io, clock, 'connecting', dialler.open(target, signal))
    const client = createMcpClient(session, { log, clock })
    return await withProgress(
      io,
      clock,
      'waiting for the answer',
      ask({ client, request: { timeoutMs, signal: shutdown.signal } }),
    )
  } finally {
    session?.end(done())
    await session?.finished
    await dialler.close()
    shutdown.dispose()
  }
}

/** An agent that calls itself, as people do who try both commands on one machine, needs a second key for it. */
function callerKeys(keys: Keys, { holder, secret }: Ticket): Keys {
  const own = holderKey(keys.holder).id === holder
  return own && secret !== undefined ? { ...keys, holder: SecretKey.generate() } : keys
}
