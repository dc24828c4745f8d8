import { encodeUtf8 } from '../../src/core/bytes.ts'
import { type CallTag } from '../../src/core/link.ts'
import { type Log, type LogFacts } from '../../src/core/log.ts'
import { type CallLedger, createCallLedger } from '../../src/mcp/serving/call-ledger.ts'
import { type ServedLink, type ServeOptions, serveMcp } from '../../src/mcp/serving/server.ts'
import { createToolRegistry, pingTool, type Tool } from '../../src/mcp/tool.ts'
import { silentLog } from '../silent-log.ts'
import { FakeClock } from './fake-clock.ts'
import { type PortPair, portPair, settle } from './port-pair.ts'

/** A tool without arguments. */
export function toolOf(name: string, call: Tool['call'], more: Partial<Tool> = {}): Tool {
  return {
    name,
    description: `tool ${name}`,
    inputSchema: { type: 'object', properties: {} },
    idempotent: false,
    ...more,
    call,
  }
}

export interface Served {
  readonly pair: PortPair
  readonly link: ServedLink
  readonly ledger: CallLedger
  readonly clock: FakeClock
  /** Texts the server sends after the messages are handed to it. */
  readonly exchange: (...messages: (string | Uint8Array)[]) => Promise<readonly string[]>
  /** The only answer to one message. */
  readonly ask: (message: string | Uint8Array) => Promise<string>
  readonly tell: (message: string, call: CallTag) => void
}

export interface ServeSetup
  extends Partial<
    Pick<
      ServeOptions,
      | 'log'
      | 'limits'
      | 'ledger'
      | 'methods'
      | 'rights'
      | 'allowedTools'
      | 'freeMethods'
      | 'observer'
      | 'upstream'
      | 'prepare'
    >
  > {
  readonly tools?: readonly Tool[]
  readonly clock?: FakeClock
  readonly toServer?: number
  readonly toCaller?: number
}

export function serve(setup: ServeSetup = {}): Served {
  const { tools = [pingTool], clock = new FakeClock(), toServer, toCaller, log = silentLog } = setup
  const pair = portPair({
    ...(toServer === undefined ? {} : { toServer }),
    ...(toCaller === undefined ? {} : { toCaller }),
  })
  const ledger = setup.ledger ?? createCallLedger(clock)
  let ids = 0
  const link = serveMcp(pair.server, {
    registry: createToolRegistry(tools),
    ledger,
    log,
    serverInfo: { name: 'ct-agent', version: '1.2.3' },
    randomId: () => {
      ids += 1
      return `random-id-${ids}`
    },
    ...(setup.limits === undefined ? {} : { limits: setup.limits }),
    ...(setup.methods === undefined ? {} : { methods: setup.methods }),
    rights: setup.rights,
    allowedTools: setup.allowedTools,
    freeMethods: setup.freeMethods,
    observer: setup.observer,
    upstream: setup.upstream,
    ...(setup.prepare === undefined ? {} : { prepare: setup.prepare }),
  })
  const exchange: Served['exchange'] = async (...messages) => {
    const before = pair.server.sent.length
    for (const message of messages) {
      pair.server.deliver(typeof message === 'string' ? encodeUtf8(message) : message)
    }
    await settle()
    return pair.server.texts.slice(before)
  }
  return {
    pair,
    link,
    ledger,
    clock,
    exchange,
    ask: async (message) => {
      const texts = await exchange(message)
      if (texts.length !== 1) throw new Error(`expected one answer, found ${texts.length}: ${texts.join(' ')}`)
      return texts[0] ?? ''
    },
    tell: (message, call) => pair.server.deliver(encodeUtf8(message), call),
  }
}

/** A promise with its handles, for tools that the test ends by hand. */
export function deferred<Value>(): {
  readonly promise: Promise<Value>
  readonly resolve: (value: Value) => void
  readonly reject: (error: unknown) => void
} {
  return Promise.withResolvers<Value>()
}

export interface LogLine {
  readonly level: string
  readonly event: string
  readonly facts: LogFacts
}

export function recordingLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = []
  const at =
    (level: string) =>
    (event: string, facts: LogFacts = {}): void => {
      lines.push({ level, event, facts })
    }
  return { log: { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') }, lines }
}
