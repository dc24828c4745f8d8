/**
 * MCP over stdin and stdout: one JSON text a line, as hosts start their local servers.
 *
 * Holds: a line that is too long costs no more memory than the longest that is allowed, and of it the head is told, so
 * that its request can be answered; blank lines are none. What is written leaves in order and whole.
 *
 * @module
 */
import { type Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { CtError, toCtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { LineSplitter } from '../../core/lines.ts'
import { type IncomingMessage, type LinkEnd } from '../../core/link.ts'
import { type Port } from '../port.ts'
import { headWithId } from '../wire/head.ts'

export interface LineStreams {
  readonly input: Readable
  /** Resolves when the line was taken over; rejects when nobody reads any more. */
  readonly write: (line: string) => Promise<void>
}

/** Nobody that a handshake proved: whoever started this process. */
export const LOCAL_HOST = '0'.repeat(64) as HolderId
/** What the official SDKs take in one line. */
export const MAX_LINE_BYTES = 10_485_760
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
  const lines = new LineSplitter(limitBytes, {
    line: (bytes) => {
      if (bytes.some((byte) => byte > SPACE)) deliver({ kind: 'text', bytes })
    },
    tooLong: ({ head, tail, totalBytes }) => deliver({ kind: 'oversize', head: headWithId(head, tail), totalBytes }),
  })
  // An iterator would take two turns more for each chunk.
  input.on('data', (chunk: string | Uint8Array) => {
    try {
      lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk)
    } catch (error) {
      input.destroy(toCtError(error))
    }
  })
  try {
    await finished(input, { writable: false })
    lines.end()
    return new CtError('ERR_LINK_CLOSED', 'the host ended the input')
  } catch (error) {
    return toCtError(error, 'ERR_LINK_LOST')
  }
}
