/**
 * A wrapped server that really runs, and links to it in memory.
 *
 * @module
 */
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { encodeUtf8 } from '../../../src/core/bytes.ts'
import { type Env } from '../../../src/core/env.ts'
import { type JsonObject } from '../../../src/core/json.ts'
import { type CallTag } from '../../../src/core/link.ts'
import { systemClock } from '../../../src/core/time.ts'
import { systemProcesses } from '../../../src/mcp/services/index.ts'
import { type UpstreamConfig } from '../../../src/mcp/upstream/config.ts'
import { openWrapped, type WrappedUpstream } from '../../../src/mcp/upstream/wrapped-upstream.ts'
import { type LogLine, recordingLog, type Served, type ServeSetup, serve } from '../serve.ts'
import { until } from '../services/processes.ts'

const ODD = fileURLToPath(new URL('../../fixtures/servers/odd.ts', import.meta.url))

export interface WrapOptions extends Partial<UpstreamConfig> {
  /** How the fixture behaves. */
  readonly manners?: readonly string[]
  readonly command?: string
  readonly env?: Env
  readonly allows?: (tool: string) => boolean
}

export interface Wrapped {
  readonly upstream: WrappedUpstream
  readonly lines: readonly LogLine[]
  readonly link: (setup?: ServeSetup) => Link
}

export async function wrap({ manners = [], command, env = {}, allows, ...config }: WrapOptions = {}): Promise<Wrapped> {
  const { log, lines } = recordingLog()
  const upstream = await openWrapped(
    {
      where: { command: command ?? `exec ${process.execPath} --no-warnings ${ODD} ${manners.join(' ')}` },
      mode: 'peer',
      most: 4,
      roots: false,
      ...config,
    },
    { PATH: '/usr/local/bin:/usr/bin:/bin', ...env },
    { clock: systemClock, log, host: systemProcesses, random: () => 1, allows },
  )
  onTestFinished(() => upstream.close())
  return { upstream, lines, link: (setup = {}) => new Link(serve({ ...setup, upstream })) }
}

export class Link {
  readonly served: Served
  #last = 0

  constructor(served: Served) {
    this.served = served
  }

  get texts(): readonly string[] {
    return this.served.pair.server.texts
  }

  say(text: string, tag?: CallTag): void {
    this.served.pair.server.deliver(encodeUtf8(text), tag)
  }

  async initialize(capabilities: JsonObject = {}): Promise<void> {
    await this.ask('initialize', { protocolVersion: '2025-11-25', capabilities })
  }

  /** The text of the answer. */
  async ask(method: string, params: JsonObject | string = {}): Promise<string> {
    this.#last += 1
    const id = this.#last
    const text = typeof params === 'string' ? params : JSON.stringify(params)
    this.say(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${text}}`)
    const answer = (): string | undefined => this.texts.find((one) => one.startsWith(`{"jsonrpc":"2.0","id":${id},`))
    await until(`an answer to ${method}`, () => answer() !== undefined)
    return answer() ?? ''
  }

  call(name: string, args: JsonObject = {}, more: JsonObject = {}): Promise<string> {
    return this.ask('tools/call', { name, arguments: args, ...more })
  }

  async names(): Promise<readonly string[]> {
    const { result } = JSON.parse(await this.ask('tools/list')) as { result: { tools: { name: string }[] } }
    return result.tools.map(({ name }) => name)
  }

  /** What was said beside answers. */
  get told(): readonly string[] {
    return this.texts.filter((text) => !/^\{"jsonrpc":"2\.0","id":\d/.test(text))
  }
}
