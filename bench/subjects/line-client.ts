/**
 * The calling side of JSON lines, and the bulk that is sent.
 *
 * @module
 */
/** A yamux frame of js-libp2p carries so much; smaller pieces would measure the muxer's overhead instead. */
export const BULK_CHUNK = new Uint8Array(64 * 1024).fill(0x61)

export interface LineClient {
  readonly ping: () => Promise<void>
  readonly receive: (line: string) => void
}

export function lineClient(send: (line: string) => void): LineClient {
  const waiting = new Map<number, () => void>()
  let lastId = 0
  return {
    ping: () =>
      new Promise((resolve) => {
        const id = ++lastId
        waiting.set(id, resolve)
        send(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'ping' } })}\n`)
      }),
    receive: (line) => {
      const { id } = JSON.parse(line) as { readonly id: number }
      waiting.get(id)?.()
      waiting.delete(id)
    },
  }
}

/** Repeats a send until the time is over; gives the event loop to others now and then. */
export async function pushUntil(milliseconds: number, send: () => Promise<void>): Promise<void> {
  const end = performance.now() + milliseconds
  while (performance.now() < end) await send()
}
