/**
 * Server-sent events as text, and the names by which a client asks for what it missed.
 *
 * @module
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */

/** Says nothing, and that somebody is there. */
export const KEEPALIVE = ': \n\n'

/** @param id none where nobody can come back */
export function eventText(data: string, id?: string): string {
  // A line end in the data would end the field; in JSON it is a blank, and the client puts it back.
  const lines = /[\r\n]/.test(data) ? data.split(/\r\n|\r|\n/) : [data]
  const named = id === undefined ? '' : `id: ${id}\n`
  return `event: message\n${named}${lines.map((line) => `data: ${line}\n`).join('')}\n`
}

/** Says nothing but where a client can come back to, and when. */
export function primingText(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata: \n\n`
}

export interface EventId {
  readonly stream: string
  readonly sequence: number
}

export function formatEventId({ stream, sequence }: EventId): string {
  return `${stream}-${sequence}`
}

export function parseEventId(text: string): EventId | undefined {
  const match = /^([a-z0-9]{1,20})-(\d{1,15})$/.exec(text.trim())
  const [, stream, digits] = match ?? []
  return stream === undefined ? undefined : { stream, sequence: Number(digits) }
}
