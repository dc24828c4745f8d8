/**
 * `ct-agent channel` as a caller or a pipe: one session, one thing to do.
 *
 * @module
 */
import { formatAddress, type Session } from '../channel/index.ts'
import { CtError } from '../core/errors.ts'
import { createMcpClient, isJsonObject, type JsonValue, resultOf } from '../mcp/index.ts'
import { type CallParams } from './call-settings.ts'
import { type Context } from './command.ts'
import { type DirectConfig, type LocalSide } from './direct-config.ts'
import { readText } from './input.ts'
import { notice, printLine } from './io.ts'
import { acceptingSource, diallingSource, done, type LinkSource, timeLimit } from './link-source.ts'
import { runPipe } from './raw-pipe.ts'
import { watchShutdown } from './shutdown.ts'

type OneThing = Extract<LocalSide, { kind: 'call-method' | 'call-once' | 'pipe' }>

export async function callDirect(context: Context, config: DirectConfig, side: OneThing): Promise<number> {
  const { io } = context
  // Until there is a session to say goodbye on, a signal ends the process by itself.
  const input = side.kind === 'call-once' ? (await readText(io.stdin, 'stdin')).trim() : ''
  const shutdown = watchShutdown(io)
  const source = await openSource(context, config)
  let session: Session | undefined
  try {
    session = await source.open(openingSignal(config, side, shutdown.signal))
    const opened = session
    const bye = side.kind === 'pipe' ? new CtError('ERR_PEER_SHUTDOWN', 'the peer is shutting down') : done()
    shutdown.signal.addEventListener('abort', () => opened.end(bye))
    if (side.kind === 'pipe') await runPipe(session, io)
    else await printLine(io, await ask(context, config, session, side, input))
    return 0
  } catch (error) {
    if (!shutdown.signal.aborted) throw error
    // A pipe is stopped like a server; a call that is stopped has no answer, which scripts must not take for an empty one.
    if (side.kind === 'pipe') return 0
    throw new CtError('ERR_CALL_CANCELLED', 'stopped by a signal before the answer came')
  } finally {
    session?.end(done())
    await session?.finished
    await source.close(done())
    shutdown.dispose()
  }
}

/** A caller that dials waits no longer for its session than for an answer. */
function openingSignal({ role, timeoutMs }: DirectConfig, { kind }: OneThing, shutdown: AbortSignal): AbortSignal {
  return role === 'accept' || kind === 'pipe' ? shutdown : AbortSignal.any([shutdown, timeLimit(timeoutMs)])
}

/** Sessions from the side of the channel that this process is. */
export async function openSource({ io, clock, log }: Context, config: DirectConfig): Promise<LinkSource> {
  const { role, self, address, trust } = config
  if (role === 'initiate') return diallingSource(self, { addresses: [address], trust }, clock)
  const source = await acceptingSource({ self, listen: [address], trust, clock, log })
  const [where = address] = source.addresses
  notice(io, `ct-agent channel: listening on ${formatAddress(where)} (responder)`)
  return source
}

/** What to print: the whole response of a method, the bare output of a service. */
async function ask(
  { io, clock, log }: Context,
  { timeoutMs }: DirectConfig,
  session: Session,
  side: Exclude<OneThing, { kind: 'pipe' }>,
  input: string,
): Promise<string> {
  const client = createMcpClient(session, { clock, log })
  if (side.kind === 'call-method') {
    notice(io, `ct-agent channel: --call ${side.method} (one MCP request over the channel, then exit)`)
    const { text } = await client.request(side.method, asParams(side.params), { timeoutMs })
    return text
  }
  notice(io, `ct-agent channel: --call-service ${side.slug} (one service call over the channel, then exit)`)
  const answer = await client.request('tools/call', serviceCall(side.slug, input), { timeoutMs })
  return outputOf(side.slug, resultOf(answer))
}

/** Parameters in the order in which the original program sends them. */
export function serviceCall(slug: string, input: string): { arguments: { input: string }; name: string } {
  return { arguments: { input }, name: `service/${slug}` }
}

/** @throws {CtError} `ERR_PROTOCOL` when the result is not that of a service */
export function outputOf(slug: string, result: JsonValue): string {
  const output = isJsonObject(result) ? result['output'] : undefined
  if (typeof output === 'string') return output
  throw new CtError('ERR_PROTOCOL', `service/${slug} reply missing result.output`)
}

function asParams(params: CallParams): JsonParams {
  // The parser of the variable took them from JSON text.
  return params as JsonParams
}

type JsonParams = Parameters<ReturnType<typeof createMcpClient>['request']>[1]
