/**
 * MCP over stdin and stdout: one JSON text a line, as hosts start their local servers.
 *
 * Holds: a line that is too long costs no more memory than the longest that is allowed, and of it the head is told, so
 * that its request can be answered; blank lines are none. What is written leaves in order and whole.
 *
 * @module
 */
import { CtError, toCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type IncomingMessage, type LinkEnd } from '../../core/link.ts'
import { type Port } from '../port.ts'
import { headWithId } from '../wire/head.ts'

export interface LineStreams {
  readonly input: AsyncIterable<string | Uint8Array>
  /** Resolves when the line was taken over; rejects when nobody reads any more. */
  readonly write: (line: string) => Promise<void>
}

/** Nobody that a handshake proved: whoever started this process. */
export const LOCAL_HOST = '0'.repeat(64) as HolderId
/** What the official SDKs take in one line. */
export const MAX_LINE_BYTES = 10_485_760
/** Enough for the id of a request, wherever a common encoder puts it. */
const HEAD_BYTES = 1_024
const LINE_FEED = 0x0a
const SPACE = 0x20

export interface LinePort extends Port {
  /** Nothing is delivered or written any more. */
  readonly end: (reason: CtError) => void
}

export function openLinePort({ input, write }: LineStreams, limitBytes = MAX_LINE_BYTES): LinePort {
  const closed = Promise.withResolvers<LinkEnd>()
  let ended: CtError | undefined
  let last: Promise<void> = Promise.resolve()
  const end = (reason: CtError): void => {
    if (ended !== undefined) return
    ended = reason
    closed.resolve({ reason, final: true })
  }
  return {
    peer: { holder: LOCAL_HOST },
    isReady: true,
    sendLimitBytes: limitBytes,
    peerInFlight: 0,
    receiveLimitBytes: limitBytes,
    send: ({ text }) => {
      if (ended !== undefined) return Promise.reject(ended)
      last = write(`${text}\n`)
      last.catch((error: unknown) => end(toCtError(error, 'ERR_LINK_CLOSED')))
      return last
    },
    receive: (listener) => {
      void readAll(input, limitBytes, (message) => {
        if (ended === undefined) listener(message)
      }).then(end)
    },
    watch: () => {},
    closed: closed.promise,
    end,
  }
}

/** Resolves with why there is no more. */
async function readAll(
  input: LineStreams['input'],
  limitBytes: number,
  deliver: (message: IncomingMessage) => void,
): Promise<CtError> {
  const lines = new Lines(limitBytes, deliver)
  try {
    for await (const chunk of input) lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    lines.finish()
    return new CtError('ERR_LINK_CLOSED', 'the host ended the input')
  } catch (error) {
    return toCtError(error, 'ERR_LINK_LOST')
  }
}

class Lines {
  readonly #limitBytes: number
  readonly #deliver: (message: IncomingMessage) => void
  #parts: Uint8Array[] = []
  #head: Uint8Array = NOTHING
  /** Of a line that is too long. */
  #tail: Uint8Array = NOTHING
  #bytes = 0

  constructor(limitBytes: number, deliver: (message: IncomingMessage) => void) {
    this.#limitBytes = limitBytes
    this.#deliver = deliver
  }

  push(chunk: Uint8Array): void {
    let start = 0
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      this.#take(chunk.subarray(start, end))
      this.finish()
      start = end + 1
    }
    this.#take(chunk.subarray(start))
  }

  /** The line is complete. */
  finish(): void {
    const [parts, head, tail, bytes] = [this.#parts, this.#head, this.#tail, this.#bytes]
    this.#parts = []
    this.#head = NOTHING
    this.#tail = NOTHING
    this.#bytes = 0
    if (bytes > this.#limitBytes) {
      this.#deliver({ kind: 'oversize', head: headWithId(head, tail), totalBytes: bytes })
      return
    }
    const line = Buffer.concat(parts, bytes)
    if (line.some((byte) => byte > SPACE)) this.#deliver({ kind: 'text', bytes: line })
  }

  #take(part: Uint8Array): void {
    if (this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, part.subarray(0, HEAD_BYTES - this.#head.length)])
    }
    this.#bytes += part.length
    if (this.#bytes <= this.#limitBytes) {
      this.#parts.push(part)
    } else {
      this.#tail = Buffer.from(Buffer.concat([this.#tail, part.subarray(-HEAD_BYTES)]).subarray(-HEAD_BYTES))
      this.#parts = []
    }
  }
}

const NOTHING = new Uint8Array(0)
