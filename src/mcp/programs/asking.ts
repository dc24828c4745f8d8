/**
 * One HTTP request to a server that the operator set.
 *
 * @module
 */
import { type ClientRequest, type IncomingMessage as HttpAnswer, request as plainRequest } from 'node:http'
import { request as secureRequest } from 'node:https'

export type { HttpAnswer }

export interface HttpQuery {
  readonly url: URL
  readonly method: 'POST' | 'GET' | 'DELETE'
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly signal: AbortSignal
}

/** Resolves when the headers of the answer are there; nothing is followed to another address. */
export function ask({ url, method, headers, body, signal }: HttpQuery): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const send = url.protocol === 'https:' ? secureRequest : plainRequest
    const query: ClientRequest = send(url, { method, headers, signal })
    query.on('error', reject)
    query.on('response', resolve)
    query.end(body)
  })
}

/** The whole body; nothing when it is larger, which ends the connection. */
export async function bodyOf(answer: HttpAnswer, maxBytes: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Uint8Array>) {
    bytes += chunk.length
    // Leaving the loop ends the connection.
    if (bytes > maxBytes) return undefined
    parts.push(chunk)
  }
  return Buffer.concat(parts, bytes)
}
