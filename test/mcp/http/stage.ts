import { decodeUtf8, encodeUtf8 } from '../../../src/core/bytes.ts'
import { type IncomingMessage } from '../../../src/core/link.ts'
import { type AccessRules, LOOPBACK_HOSTS } from '../../../src/mcp/http/access.ts'
import { Endpoint, type EndpointOptions } from '../../../src/mcp/http/endpoint.ts'
import {
  type Body,
  type EventSink,
  type Headers,
  type HttpReply,
  type HttpRequest,
} from '../../../src/mcp/http/http.ts'
import { type Port } from '../../../src/mcp/port.ts'
import { silentLog } from '../../silent-log.ts'
import { FakeClock } from '../fake-clock.ts'
import { settle } from '../port-pair.ts'

/** Where an answer goes, and how the client takes it. */
export class FakeReply implements HttpReply {
  status = 0
  headers: Headers = {}
  body = ''
  isStream = false
  isEnded = false
  isDestroyed = false
  /** The client takes nothing. */
  isFull = false
  #isGone = false
  readonly #gone: (() => void)[] = []
  readonly #end: (() => void)[] = []
  readonly #drain: (() => void)[] = []

  answer(status: number, headers: Headers, body = ''): void {
    if (this.status !== 0) throw new Error('answered twice')
    this.status = status
    this.headers = headers
    this.body = body
    this.#over()
  }

  stream(headers: Headers): EventSink {
    if (this.status !== 0) throw new Error('answered twice')
    this.status = 200
    this.headers = headers
    this.isStream = true
    return {
      write: (text) => {
        if (this.#isGone) return true
        if (this.isEnded) throw new Error('written after the end')
        this.body += text
        return !this.isFull
      },
      onDrain: (listener) => this.#drain.push(listener),
      onGone: (listener) => this.#gone.push(listener),
      end: () => this.#over(),
      destroy: () => {
        this.isDestroyed = true
        this.#over()
      },
    }
  }

  onGone(listener: () => void): void {
    this.#gone.push(listener)
  }

  onEnd(listener: () => void): void {
    this.#end.push(listener)
  }

  /** The client goes away. */
  leave(): void {
    this.#isGone = true
    this.isEnded = true
    for (const tell of [...this.#gone, ...this.#end]) tell()
  }

  drain(): void {
    this.isFull = false
    for (const tell of this.#drain) tell()
  }

  get json(): Record<string, unknown> {
    return JSON.parse(this.body) as Record<string, unknown>
  }

  /** What the events have, without those that say nothing. */
  get events(): readonly { readonly id: string | undefined; readonly data: Record<string, unknown> }[] {
    return this.body
      .split('\n\n')
      .map((block) => ({ id: /^id: (.*)$/m.exec(block)?.[1], text: /^data: (.+)$/m.exec(block)?.[1] }))
      .flatMap(({ id, text }) =>
        text === undefined ? [] : [{ id, data: JSON.parse(text) as Record<string, unknown> }],
      )
  }

  /** What was answered, be it at once or in events. */
  get messages(): readonly Record<string, unknown>[] {
    return this.isStream ? this.events.map(({ data }) => data) : this.body === '' ? [] : [this.json]
  }

  #over(): void {
    this.isEnded = true
    for (const tell of this.#end) tell()
  }
}

/** What the serving side of one link hears, and says. */
export class Link {
  readonly port: Port
  readonly heard: Record<string, unknown>[] = []
  closedWith: string | undefined

  constructor(port: Port) {
    this.port = port
    port.receive((message: IncomingMessage) => {
      if (message.kind === 'text') {
        this.heard.push(JSON.parse(decodeUtf8(message.bytes) ?? '') as Record<string, unknown>)
      }
    })
  }

  /** Parameters of what was heard at this place. */
  params<Params>(index: number): Params {
    const message = this.heard[index]
    if (message === undefined) throw new Error(`nothing was heard at ${index}`)
    return message['params'] as Params
  }

  /** Answers what was heard at this place. */
  answer(index: number, result: unknown = {}): void {
    this.say({ id: this.heard[index]?.['id'], result })
  }

  say(message: Record<string, unknown>): void {
    void this.port.send({ text: JSON.stringify({ jsonrpc: '2.0', ...message }) }).catch(() => {})
  }
}

export const SOMEBODY = 'a-token-of-somebody'
const RULES: AccessRules = { hosts: new Set(LOOPBACK_HOSTS), anyAddress: false, origins: new Set(), tokens: [] }

export interface Asked {
  readonly method?: string
  readonly path?: string
  readonly headers?: Headers
  readonly body?: unknown
  readonly raw?: Body
}

export class HttpStage {
  readonly clock = new FakeClock()
  readonly links: Link[] = []
  readonly endpoint: Endpoint
  #names = 0

  constructor(rules: Partial<AccessRules> = {}, more: Partial<EndpointOptions> = {}) {
    this.endpoint = new Endpoint({
      rules: { ...RULES, ...rules },
      serve: (port) => {
        const link = new Link(port)
        this.links.push(link)
        return {
          close: ({ code }) => {
            link.closedWith = code
          },
        }
      },
      schemaOf: () => undefined,
      randomId: () => {
        this.#names += 1
        return `session-${this.#names}`
      },
      clock: this.clock,
      log: silentLog,
      ...more,
    })
  }

  get link(): Link {
    const link = this.links.at(-1)
    if (link === undefined) throw new Error('nobody was served')
    return link
  }

  async ask({ method = 'POST', path = '/mcp', headers = {}, body, raw }: Asked): Promise<FakeReply> {
    const all: Headers = {
      host: '127.0.0.1:4436',
      accept: 'application/json, text/event-stream',
      ...(method === 'POST' ? { 'content-type': 'application/json' } : {}),
      ...headers,
    }
    const text = typeof body === 'string' ? body : JSON.stringify(body ?? {})
    const request: HttpRequest = {
      method,
      path,
      header: (name) => (all[name] === '' ? undefined : all[name]),
      body: () => Promise.resolve(raw ?? { kind: 'whole', bytes: encodeUtf8(text) }),
    }
    const reply = new FakeReply()
    await this.endpoint.handle(request, reply)
    await settle()
    return reply
  }

  /** Begins a session and returns the headers that it is used with. */
  async begin(version = '2025-11-25', headers: Headers = {}): Promise<Headers> {
    const params = { protocolVersion: version, capabilities: {} }
    const reply = this.ask({ headers, body: { jsonrpc: '2.0', id: 0, method: 'initialize', params } })
    await settle()
    this.link.answer(0)
    return { ...headers, 'mcp-session-id': (await reply).headers['mcp-session-id'] ?? '' }
  }

  call(headers: Headers, id: unknown = 1, more: Record<string, unknown> = {}): Promise<FakeReply> {
    return this.ask({ headers, body: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'x', ...more } } })
  }

  listen(headers: Headers, last?: string): Promise<FakeReply> {
    const from: Headers = last === undefined ? {} : { 'last-event-id': last }
    return this.ask({ method: 'GET', headers: { ...headers, accept: 'text/event-stream', ...from } })
  }
}
