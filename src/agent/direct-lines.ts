/**
 * `ct-agent channel` as a caller that stays: each line of stdin is one call, each call one JSON line on stdout.
 *
 * Holds: lines are called one after the other, in order, and every line that was read gets one answer, whatever happens to
 * the link. Only the end of stdin, a definitive refusal or a signal ends the process.
 *
 * @module
 */
import { type CtError, toCtError } from '../core/errors.ts'
import { Backoff, type BackoffPolicy } from '../core/time.ts'
import { createMcpClient, createResumableCaller, type JsonValue, resultOf } from '../mcp/index.ts'
import { type Context } from './command.ts'
import { openSource, outputOf, serviceCall } from './direct-call.ts'
import { type DirectConfig, type LocalSide } from './direct-config.ts'
import { notice, printLine } from './io.ts'
import { type Line, readLines } from './line-reader.ts'
import { done, type LinkSource } from './link-source.ts'
import { watchShutdown } from './shutdown.ts'

type LinesSide = Extract<LocalSide, { kind: 'call-lines' }>

/** First retry soon, later ones far enough apart for a peer that is down for long. */
const RECONNECT: BackoffPolicy = { baseMs: 200, capMs: 10_000, stableMs: 5_000 }

export async function callLines(context: Context, config: DirectConfig, side: LinesSide): Promise<number> {
  const { io } = context
  notice(
    io,
    `ct-agent channel: --call-service ${side.slug} (persistent: one held session, NDJSON calls over stdio until EOF)`,
  )
  const shutdown = watchShutdown(io)
  let resumed = (): boolean => false
  const calls = (): 'fresh' | 'resumed' => (resumed() ? 'resumed' : 'fresh')
  const source = await openSource(context, { ...config, self: { ...config.self, calls } })
  let caller: LineCaller | undefined
  try {
    caller = side.reconnect ? reconnecting(context, config, source) : await oneSession(context, source, shutdown.signal)
    const { hasSent, close } = caller
    resumed = hasSent
    shutdown.signal.addEventListener('abort', close)
    await answerLines(context, config, side, caller)
    const stopped = await Promise.race([caller.stopped, Promise.resolve(undefined)])
    if (stopped !== undefined && !shutdown.signal.aborted) throw stopped
    return 0
  } finally {
    caller?.close()
    await caller?.finished()
    await source.close(done())
    shutdown.dispose()
  }
}

/** Until the end of stdin, or until no more calls can be made. */
async function answerLines(
  { io }: Context,
  { self, timeoutMs }: DirectConfig,
  { slug }: LinesSide,
  caller: LineCaller,
): Promise<void> {
  const lines = readLines(io.stdin, self.limits.messageBytes)
  const stopped = caller.stopped.then(() => undefined)
  while (caller.broken?.() !== true) {
    const next = await Promise.race([lines.next(), stopped])
    if (next === undefined || next.done === true) return
    const answer = await answerLine(caller, slug, next.value, timeoutMs)
    if (answer !== undefined) await printLine(io, answer)
  }
}

interface LineCaller {
  readonly call: (slug: string, input: string, timeoutMs: number) => Promise<JsonValue>
  /** Some call was sent. */
  readonly hasSent: () => boolean
  /** Resolves with the reason when no more calls can be made. */
  readonly stopped: Promise<CtError>
  /** No more calls, once the last answer is out. */
  readonly broken?: () => boolean
  readonly close: () => void
  /** The goodbye is out. */
  readonly finished: () => Promise<void>
}

/** The answer to one line, keys in alphabetical order as the original program writes them; none to a blank one. */
async function answerLine(
  caller: LineCaller,
  slug: string,
  line: Line,
  timeoutMs: number,
): Promise<string | undefined> {
  try {
    if ('problem' in line) throw line.problem
    const input = line.text.trim()
    if (input === '') return undefined
    const output = outputOf(slug, await caller.call(slug, input, timeoutMs))
    return JSON.stringify({ ok: true, output })
  } catch (error) {
    const { code, message } = toCtError(error)
    return JSON.stringify({ code, error: message, ok: false })
  }
}

/** Calls that outlive their session. */
function reconnecting({ io, clock, random, log }: Context, { self }: DirectConfig, source: LinkSource): LineCaller {
  let finished = Promise.resolve()
  const caller = createResumableCaller({
    connect: async (signal) => {
      const session = await source.open(signal)
      const leave = (): void => session.end(done())
      signal.addEventListener('abort', leave, { once: true })
      void session.closed.then(({ reason }) => {
        signal.removeEventListener('abort', leave)
        finished = session.finished
        if (!signal.aborted) notice(io, `ct-agent channel: session ended (${reason.code}: ${reason.message})`)
      })
      // Only an admitted caller may count its calls as sent.
      await session.ready
      return session
    },
    instance: self.run,
    backoff: new Backoff(RECONNECT, random),
    clock,
    log,
  })
  caller.start()
  return {
    call: async (slug, input, timeoutMs) =>
      resultOf(await caller.call('tools/call', serviceCall(slug, input), { timeoutMs })),
    hasSent: () => caller.hasSent,
    stopped: caller.stopped,
    close: () => caller.close(),
    finished: () => finished,
  }
}

/** Calls on one session; its end is the end. */
async function oneSession({ clock, log }: Context, source: LinkSource, signal: AbortSignal): Promise<LineCaller> {
  const session = await source.open(signal)
  await session.ready
  const client = createMcpClient(session, { clock, log })
  let ended = false
  void session.closed.then(() => {
    ended = true
  })
  return {
    call: async (slug, input, timeoutMs) =>
      resultOf(await client.request('tools/call', serviceCall(slug, input), { timeoutMs })),
    hasSent: () => false,
    stopped: session.closed.then(({ reason }) => reason),
    broken: () => ended,
    close: () => session.end(done()),
    finished: () => session.finished,
  }
}
