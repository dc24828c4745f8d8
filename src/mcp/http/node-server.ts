/**
 * The HTTP server itself.
 *
 * Holds: whoever is slow costs bounded time and memory: headers, bodies, connections and answers that nobody takes have
 * limits, and what is read of all bodies at once has one too.
 *
 * @module
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { type Clock } from '../../core/time.ts'
import { type Body, type EventSink, type HttpReply, type HttpRequest } from './http.ts'
import { MAX_BODY_BYTES, SLOW_READER_MS } from './limits.ts'

/** A whole head, and a whole request. */
const HEAD_TIMEOUT_MS = 10_000
const REQUEST_TIMEOUT_MS = 30_000
/** How often both are looked at. */
const CHECK_MS = 1_000
/** Longer than clients keep an idle connection, so that they do not send into one that closes. */
const IDLE_CONNECTION_MS = 75_000
const MAX_CONNECTIONS = 2_048
const MAX_HEAD_BYTES = 16_384
const MAX_HEADERS = 100
/** Bodies that are being read, all together; small ones always have room. */
const MAX_READING_BYTES = 67_108_864
const SMALL_BODY_BYTES = 16_384
/** Of a body that is too large, so much is thrown away before the connection is. */
const MAX_DISCARDED_BYTES = 67_108_864
/** Of all answers that nobody takes, all together; whoever has taken nothing for longest is cut off. */
const MAX_UNSENT_CHARS = 67_108_864
/** Enough for the id of a request, wherever a common encoder puts it. */
const HEAD_BYTES = 1_024

export interface HttpServer {
  readonly host: string
  readonly port: number
  /** Takes no more; what is not answered after the grace is cut off. */
  readonly close: (graceMs: number) => Promise<void>
}

export interface Listening {
  readonly host: string
  readonly port: number
}

/** @throws whatever the system says when nobody can listen there */
export async function serveHttp(
  { host, port }: Listening,
  handle: (request: HttpRequest, reply: HttpReply) => Promise<void>,
  clock: Clock,
): Promise<HttpServer> {
  const [reading, unsent] = [new Reading(), new Unsent()]
  const server = createServer({
    headersTimeout: HEAD_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_MS,
    keepAliveTimeout: IDLE_CONNECTION_MS,
    maxHeaderSize: MAX_HEAD_BYTES,
    joinDuplicateHeaders: true,
  })
  server.maxConnections = MAX_CONNECTIONS
  server.maxHeadersCount = MAX_HEADERS
  server.on('request', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    void handle(requestOf(incoming, reading), new NodeReply(incoming, outgoing, unsent, clock))
  })
  await listening(server, { host, port })
  return {
    host,
    port: (server.address() as AddressInfo).port,
    close: (graceMs) =>
      new Promise((resolve) => {
        const cancel = clock.after(graceMs, () => server.closeAllConnections())
        server.close(() => {
          cancel()
          resolve()
        })
        server.closeIdleConnections()
      }),
  }
}

function listening(server: Server, at: Listening): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(at, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function requestOf(incoming: IncomingMessage, reading: Reading): HttpRequest {
  const { method = '', url = '', headers } = incoming
  return {
    method,
    path: url.split('?', 1)[0] ?? '',
    header: (name) => {
      const value = headers[name]
      return typeof value === 'string' ? value : value?.join(', ')
    },
    body: () => reading.read(incoming),
  }
}

/** All bodies that are being read. */
class Reading {
  #bytes = 0

  async read(incoming: IncomingMessage): Promise<Body> {
    const parts: Uint8Array[] = []
    let [kept, total] = [0, 0]
    const forget = (): void => {
      this.#bytes -= kept
      kept = 0
      parts.length = 0
    }
    let head: Uint8Array = new Uint8Array(0)
    let isCrowded = false
    try {
      for await (const chunk of incoming as AsyncIterable<Uint8Array>) {
        total += chunk.length
        if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
        if (total > MAX_BODY_BYTES || isCrowded) {
          forget()
          if (total > MAX_DISCARDED_BYTES) return { kind: 'oversize', head, totalBytes: total }
          continue
        }
        isCrowded = total > SMALL_BODY_BYTES && this.#bytes + chunk.length > MAX_READING_BYTES
        if (isCrowded) continue
        this.#bytes += chunk.length
        kept += chunk.length
        parts.push(chunk)
      }
    } catch {
      return { kind: 'cut' }
    } finally {
      this.#bytes -= kept
    }
    if (total > MAX_BODY_BYTES) return { kind: 'oversize', head, totalBytes: total }
    return isCrowded ? { kind: 'crowded' } : { kind: 'whole', bytes: Buffer.concat(parts, total) }
  }
}

/** What waits in all connections for somebody who takes it. */
class Unsent {
  /** In the order in which they began to wait. */
  readonly #waiting = new Map<ServerResponse, number>()
  #total = 0

  hold(outgoing: ServerResponse, chars: number): void {
    this.#waiting.set(outgoing, (this.#waiting.get(outgoing) ?? 0) + chars)
    this.#total += chars
    for (const oldest of this.#waiting.keys()) {
      // The newest is not late yet, however much it is.
      if (this.#total <= MAX_UNSENT_CHARS || oldest === outgoing) return
      this.release(oldest)
      oldest.destroy()
    }
  }

  release(outgoing: ServerResponse): void {
    this.#total -= this.#waiting.get(outgoing) ?? 0
    this.#waiting.delete(outgoing)
  }
}

class NodeReply implements HttpReply {
  readonly #incoming: IncomingMessage
  readonly #outgoing: ServerResponse
  readonly #unsent: Unsent
  readonly #clock: Clock

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, unsent: Unsent, clock: Clock) {
    this.#incoming = incoming
    this.#outgoing = outgoing
    this.#unsent = unsent
    this.#clock = clock
    outgoing.on('error', () => {})
    outgoing.on('drain', () => unsent.release(outgoing))
    outgoing.on('close', () => unsent.release(outgoing))
  }

  answer(status: number, headers: Readonly<Record<string, string>>, body = ''): void {
    const outgoing = this.#outgoing
    if (outgoing.headersSent || outgoing.destroyed) return
    // Of a request that is refused, little is read to keep the connection.
    const isRead = this.#incoming.complete || Number(this.#incoming.headers['content-length']) <= SMALL_BODY_BYTES
    const last = isRead ? {} : { connection: 'close' }
    const length = status === 204 ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    outgoing.writeHead(status, { ...headers, ...length, ...last })
    this.#end(body)
  }

  stream(headers: Readonly<Record<string, string>>): EventSink {
    const outgoing = this.#outgoing
    if (!outgoing.headersSent && !outgoing.destroyed) {
      outgoing.writeHead(200, headers)
      outgoing.flushHeaders()
    }
    return {
      write: (text) => this.#write(text),
      onDrain: (listener) => outgoing.on('drain', listener),
      onGone: (listener) => this.onEnd(listener),
      end: () => this.#end(''),
      destroy: () => outgoing.destroy(),
    }
  }

  onGone(listener: () => void): void {
    this.onEnd(() => {
      if (!this.#outgoing.writableFinished) listener()
    })
  }

  onEnd(listener: () => void): void {
    // It may have been while the request was read.
    if (this.#outgoing.closed) listener()
    else this.#outgoing.on('close', listener)
  }

  #write(text: string): boolean {
    const outgoing = this.#outgoing
    if (outgoing.destroyed) return true
    const isTaken = outgoing.write(text)
    if (!isTaken) this.#unsent.hold(outgoing, text.length)
    return isTaken
  }

  #end(rest: string): void {
    const outgoing = this.#outgoing
    const cancel = this.#clock.after(SLOW_READER_MS, () => outgoing.destroy())
    outgoing.on('close', cancel)
    if (rest !== '') this.#write(rest)
    outgoing.end()
  }
}
