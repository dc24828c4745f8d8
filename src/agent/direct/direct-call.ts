/**
 * `ct-agent channel` as a caller that asks one thing and goes.
 *
 * @module
 */
import { type SelfDescription } from '../../channel/index.ts'
import { CtError } from '../../core/errors.ts'
import { isJsonObject, type JsonValue, type Params, resultOf } from '../../mcp/index.ts'
import { type Caller } from '../calling/caller.ts'
import { withCaller } from '../calling/one-call.ts'
import { type Context } from '../command.ts'
import { readText } from '../input.ts'
import { notice } from '../io.ts'
import { onOneLine, printResult } from '../result.ts'
import { type ChannelConfig, type LocalSide } from './channel-side.ts'
import { openSource } from './channel-source.ts'

type OneCall = Extract<LocalSide, { kind: 'call-method' | 'call-once' }>

export async function callDirect(context: Context, config: ChannelConfig, side: OneCall): Promise<number> {
  const { io } = context
  // Until there is a session to say goodbye on, a signal ends the process by itself.
  const input = side.kind === 'call-once' ? (await readText(io.stdin, 'stdin')).trim() : ''
  const options = { ...callerOptions(context, config), patient: config.role === 'accept' }
  await printResult(io, await withCaller(context, options, (caller) => ask(context, caller, side, input)))
  return 0
}

/** How calls go out on this channel. */
export function callerOptions(context: Context, config: ChannelConfig) {
  const { self, reconnect, timeoutMs } = config
  return {
    self,
    connect: (named: SelfDescription) => openSource(context, { ...config, self: named }),
    reconnect,
    timeoutMs,
    label: 'ct-agent channel',
  }
}

/** What to print: the whole response of a method, the bare output of a service. */
async function ask({ io }: Context, caller: Caller, side: OneCall, input: string): Promise<string> {
  if (side.kind === 'call-method') {
    notice(io, `ct-agent channel: --call ${side.method} (one MCP request over the channel, then exit)`)
    // The parser of the variable took them from JSON text.
    const { text } = await caller.call(side.method, side.params as Params)
    return onOneLine(text)
  }
  notice(io, `ct-agent channel: --call-service ${side.slug} (one service call over the channel, then exit)`)
  return outputOf(side.slug, resultOf(await caller.call('tools/call', serviceCall(side.slug, input))))
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
