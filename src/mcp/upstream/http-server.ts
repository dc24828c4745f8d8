/**
 * One session at an MCP server that is reached by Streamable HTTP, as a duplex.
 *
 * Holds: a request whose answer does not come ends in an error, also when the server answers by HTTP alone; what the
 * server says unasked is listened for, as long as it lets us. When the server or the session is gone, the duplex ends.
 *
 * @module
 */
import { encodeUtf8 } from '../../core/bytes.ts'
import { CtError, isCtError } from '../../core/errors.ts'
import { isJsonObject } from '../../core/json.ts'
import { type IncomingMessage, type LinkEnd } from '../../core/link.ts'
import { type Clock, pause } from '../../core/time.ts'
import { LOCAL_HOST } from '../adapter/line-port.ts'
import { type Port } from '../port.ts'
import { ask, bodyOf, type HttpAnswer } from '../programs/asking.ts'
import { systemReason } from '../programs/system-reason.ts'
import { errorText, type Request, readEnvelopeText } from '../wire/envelope.ts'
import { codedError } from '../wire/rpc-error.ts'
import { EventReader } from './event-reader.ts'
import { MAX_SERVER_LINE_BYTES, type RunningServer, unavailable } from './running-server.ts'

export interface HttpServerOptions {
  readonly url: string
  readonly token: string | undefined
  readonly clock: Clock
}

/** Between two tries to listen. */
const LISTEN_PAUSE_MS = 2_000
/** What saying goodbye may take. */
const GOODBYE_MS = 1_000
const JSON_TYPE = 'application/json'
const EVENTS_TYPE = 'text/event-stream'

export class HttpServer implements RunningServer {
  readonly port: Port
  readonly ended: Promise<CtError>
  readonly lastWords = ''
  readonly #url: URL
  readonly #token: string | undefined
  readonly #clock: Clock
  readonly #life = new AbortController()
  readonly #end: (reason: CtError) => void
  #listener: (message: IncomingMessage) => void = () => {}
  #session: string | undefined
  #version: string | undefined
  #isListening = false
  /** Later messages must not overtake a notification. */
  #told: Promise<unknown> = Promise.resolve()

  constructor({ url, token, clock }: HttpServerOptions) {
    this.#url = new URL(url)
    this.#token = token
    this.#clock = clock
    const { promise, resolve } = Promise.withResolvers<CtError>()
    this.ended = promise
    this.#end = (reason) => {
      if (this.#life.signal.aborted) return
      this.#life.abort(reason)
      resolve(reason)
    }
    this.port = {
      peer: { holder: LOCAL_HOST },
      isReady: true,
      sendLimitBytes: MAX_SERVER_LINE_BYTES,
      receiveLimitBytes: MAX_SERVER_LINE_BYTES,
      peerInFlight: 0,
      send: ({ text }) => this.#send(text),
      receive: (listener) => {
        this.#listener = listener
      },
      watch: () => {},
      closed: promise.then((reason): LinkEnd => ({ reason, final: true })),
    }
  }

  stop(): void {
    if (this.#session !== undefined && !this.#life.signal.aborted) {
      const signal = AbortSignal.timeout(GOODBYE_MS)
      ask({ url: this.#url, method: 'DELETE', headers: this.#headers(), signal }).then(
        (answer) => answer.resume(),
        () => {},
      )
    }
    this.#end(unavailable('was stopped'))
  }

  #headers(): Record<string, string> {
    return {
      ...(this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }),
      ...(this.#session === undefined ? {} : { 'mcp-session-id': this.#session }),
      ...(this.#version === undefined ? {} : { 'mcp-protocol-version': this.#version }),
    }
  }

  async #send(text: string): Promise<void> {
    const envelope = readEnvelopeText(text)
    const request = envelope.kind === 'request' ? envelope : undefined
    const before = this.#told
    const sent = before.then(() => this.#post(text, request))
    if (request === undefined) this.#told = sent.catch(() => {})
    await sent
  }

  async #post(text: string, request: Request | undefined): Promise<void> {
    const { signal } = this.#life
    signal.throwIfAborted()
    const headers = { ...this.#headers(), 'content-type': JSON_TYPE, accept: `${JSON_TYPE}, ${EVENTS_TYPE}` }
    let answer: HttpAnswer
    try {
      answer = await ask({ url: this.#url, method: 'POST', headers, body: text, signal })
    } catch (error) {
      this.#end(unavailable(`cannot be reached: ${systemReason(error)}`))
      throw await this.ended
    }
    const session = answer.headers['mcp-session-id']
    if (request?.method === 'initialize' && typeof session === 'string') this.#session = session
    if (request === undefined) {
      answer.resume()
      if (!this.#isListening && isSuccess(answer)) void this.#listen()
      return
    }
    void this.#read(answer, request)
  }

  /** Delivers the answer to the request, or an error in its place. */
  async #read(answer: HttpAnswer, request: Request): Promise<void> {
    let isAnswered = false
    const deliver = (data: string): void => {
      isAnswered ||= this.#deliver(data, request)
    }
    let failure: CtError | undefined
    try {
      if (isOfType(answer, EVENTS_TYPE)) await readEvents(answer, deliver)
      else if (isOfType(answer, JSON_TYPE)) {
        const body = await bodyOf(answer, MAX_SERVER_LINE_BYTES)
        if (body === undefined)
          failure = new CtError('ERR_MESSAGE_TOO_LARGE', 'the answer of the MCP server is too large')
        else deliver(body.toString('utf8'))
      } else answer.resume()
    } catch (error) {
      failure = isCtError(error) ? error : undefined
    }
    if (isAnswered || this.#life.signal.aborted) return
    const reason = failure ?? missing(answer, request)
    this.#say(errorText(request.id, codedError(reason)))
    if (answer.statusCode === 404 && this.#session !== undefined) this.#end(unavailable('ended the session'))
  }

  /** True when it is the answer to the request. */
  #deliver(data: string, request: Request): boolean {
    if (request.method === 'initialize') this.#version ??= versionIn(data)
    this.#say(data)
    const envelope = readEnvelopeText(data)
    const members = envelope.kind === 'batch' ? envelope.members : [envelope]
    return members.some((one) => one.kind === 'response' && one.id === request.id)
  }

  #say(text: string): void {
    if (!this.#life.signal.aborted) this.#listener({ kind: 'text', bytes: encodeUtf8(text) })
  }

  /** What the server says unasked, until it does not want to be listened to. */
  async #listen(): Promise<void> {
    this.#isListening = true
    const { signal } = this.#life
    while (!signal.aborted) {
      try {
        const headers = { ...this.#headers(), accept: EVENTS_TYPE }
        const answer = await ask({ url: this.#url, method: 'GET', headers, signal })
        if (!isSuccess(answer) || !isOfType(answer, EVENTS_TYPE)) {
          answer.resume()
          if ((answer.statusCode ?? 0) < 500) return
        } else {
          await readEvents(answer, (data) => this.#say(data))
        }
      } catch {
        // Whether the server is gone, the next request shows.
      }
      await pause(this.#clock, LISTEN_PAUSE_MS, signal)
    }
  }
}

async function readEvents(answer: HttpAnswer, onData: (data: string) => void): Promise<void> {
  const reader = new EventReader(MAX_SERVER_LINE_BYTES, onData)
  for await (const chunk of answer as AsyncIterable<Uint8Array>) reader.push(chunk)
}

function isSuccess({ statusCode = 0 }: HttpAnswer): boolean {
  return statusCode >= 200 && statusCode < 300
}

function isOfType({ headers }: HttpAnswer, type: string): boolean {
  return headers['content-type']?.toLowerCase().startsWith(type) === true
}

function versionIn(data: string): string | undefined {
  const envelope = readEnvelopeText(data)
  if (envelope.kind !== 'response' || !('result' in envelope.outcome)) return undefined
  const { result } = envelope.outcome
  const version = isJsonObject(result) ? result['protocolVersion'] : undefined
  return typeof version === 'string' && /^[\w.-]{1,40}$/.test(version) ? version : undefined
}

function missing(answer: HttpAnswer, { method }: Request): CtError {
  if (!isSuccess(answer)) return unavailable(`answered with HTTP status ${answer.statusCode}`)
  return method === 'tools/call'
    ? new CtError('ERR_CALL_OUTCOME_UNKNOWN', 'the call was sent and may have run; its answer broke off')
    : unavailable('broke off its answer')
}
