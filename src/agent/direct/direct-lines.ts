/**
 * `ct-agent channel` as a caller that stays: each line of stdin is one call, each call one JSON line on stdout.
 *
 * Holds: lines are called one after the other, in order, and every line that was read gets one answer, whatever happens to
 * the link. Only the end of stdin, a definitive refusal or a signal ends the process.
 *
 * @module
 */
import { type SelfDescription } from '../../channel/index.ts'
import { toCtError } from '../../core/errors.ts'
import { resultOf } from '../../mcp/index.ts'
import { type Caller, openCaller, waitingCaller } from '../calling/caller.ts'
import { type Context } from '../command.ts'
import { MAX_INPUT_BYTES } from '../input.ts'
import { type Io, notice } from '../io.ts'
import { type Line, readLines } from '../line-reader.ts'
import { observe } from '../observing/observe.ts'
import { ObservedCalls } from '../observing/observed-calls.ts'
import { printResult } from '../result.ts'
import { onAbort, watchShutdown } from '../shutdown.ts'
import { type ChannelConfig, type LocalSide } from './channel-side.ts'
import { callerOptions, outputOf, serviceCall } from './direct-call.ts'

type LinesSide = Extract<LocalSide, { kind: 'call-lines' }>

export async function callLines(context: Context, config: ChannelConfig, { slug }: LinesSide): Promise<number> {
  const { io } = context
  notice(
    io,
    `ct-agent channel: --call-service ${slug} (persistent: one held session, NDJSON calls over stdio until EOF)`,
  )
  const shutdown = watchShutdown(io)
  const observation = observe(context, { command: 'channel', holder: config.self.holder.id, isCaller: true })
  const calls = new ObservedCalls(observation.observing)
  const { connect, ...how } = callerOptions(context, config)
  const options = { ...how, connect: async (self: SelfDescription) => calls.watching(await connect(self)) }
  let caller: Caller | undefined
  try {
    caller = await (config.reconnect ? waitingCaller(context, options) : openCaller(context, options, shutdown.signal))
    onAbort(shutdown.signal, caller.close)
    await observation.begin([])
    await answerLines(io, slug, caller, calls)
    const reason = await Promise.race([caller.stopped, Promise.resolve(undefined)])
    if (reason !== undefined && !shutdown.signal.aborted) throw reason
    return 0
  } finally {
    await caller?.finish()
    await observation.end()
    shutdown.dispose()
  }
}

/** Until the end of stdin, or until no more calls can be made. */
async function answerLines(io: Io, slug: string, caller: Caller, calls: ObservedCalls): Promise<void> {
  const lines = readLines(io.stdin, MAX_INPUT_BYTES)
  const stopped = caller.stopped.then(() => undefined)
  while (!caller.isStopped()) {
    const next = await Promise.race([lines.next(), stopped])
    if (next === undefined || next.done === true) return
    const answer = await answerLine(calls.making(caller, `service/${slug}`), slug, next.value)
    if (answer !== undefined) await printResult(io, answer)
  }
}

/** The answer to one line, keys in alphabetical order as the original program writes them; none to a blank one. */
async function answerLine(caller: Pick<Caller, 'call'>, slug: string, line: Line): Promise<string | undefined> {
  try {
    if ('problem' in line) throw line.problem
    const input = line.text.trim()
    if (input === '') return undefined
    const output = outputOf(slug, resultOf(await caller.call('tools/call', serviceCall(slug, input))))
    return JSON.stringify({ ok: true, output })
  } catch (error) {
    const { code, message } = toCtError(error)
    return JSON.stringify({ code, error: message, ok: false })
  }
}
