/**
 * Carries bytes between the two streams of a relayed connection, in the place of libp2p's relay.
 *
 * Left to itself, the relay keeps everything that the initiator sends for as long as the connection lasts, and reads on
 * while the other member takes nothing.
 *
 * Holds: what is under way is bounded by the windows of the two streams; the end of either side, orderly or not, reaches
 * the other; a connection that has carried its bytes ends.
 *
 * @module
 */
import { type CircuitRelayService } from '@libp2p/circuit-relay-v2'
import { type Stream } from '@libp2p/interface'

export interface CarryOptions {
  /** Of one connection, both ways. */
  readonly maxBytes: number
  readonly after: (ms: number, run: () => void) => void
}

/** For the last bytes to be taken by the side that is still there. */
const LINGER_MS = 3_000

/** The parts of libp2p's relay that lead to its own way of carrying. */
interface InnerRelay {
  handleConnect: (call: ConnectCall, options: object) => Promise<void>
  stopHop: (request: object, options: object) => Promise<Stream | undefined>
}

interface ConnectCall {
  readonly stream: { readonly pb: (kind: unknown) => unknown; readonly unwrap: () => Stream }
}

/** Makes the relay hand over the streams once it has joined them. */
export function carryingRelay(relay: CircuitRelayService, options: CarryOptions): CircuitRelayService {
  const inner = relay as unknown as InnerRelay
  const { handleConnect, stopHop } = inner
  inner.handleConnect = async ({ stream: near, ...call }, timing) => {
    let far: Stream | undefined
    const own = Object.create(inner, {
      stopHop: {
        value: async (...request: Parameters<InnerRelay['stopHop']>) => {
          far = await stopHop.apply(inner, request)
          return far === undefined ? undefined : standIn(far)
        },
      },
    })
    const stream = {
      pb: (kind: unknown) => near.pb(kind),
      unwrap: () => {
        const bare = near.unwrap()
        if (far !== undefined) carry(bare, far, options)
        return standIn(bare)
      },
    }
    await handleConnect.call(own, { ...call, stream } as ConnectCall, timing)
  }
  return relay
}

/** Says nothing and takes nothing; an end that the relay wants comes to the stream, and that of the stream to the relay. */
function standIn(stream: Stream): object {
  const events = new EventTarget()
  stream.addEventListener('close', () => events.dispatchEvent(new Event('close')))
  return Object.assign(events, {
    log: stream.log,
    writeStatus: 'writable',
    send: () => true,
    push: () => {},
    close: async () => {},
    abort: (error: Error) => stream.abort(error),
  })
}

export function carry(one: Stream, other: Stream, { maxBytes, after }: CarryOptions): void {
  let left = maxBytes
  const spend = (bytes: number): boolean => {
    left -= bytes
    return left >= 0
  }
  forward(one, other, { spend, after })
  forward(other, one, { spend, after })
}

interface Forwarding extends Pick<CarryOptions, 'after'> {
  readonly spend: (bytes: number) => boolean
}

function forward(from: Stream, to: Stream, { spend, after }: Forwarding): void {
  from.addEventListener('message', ({ data }) => {
    if (to.writeStatus !== 'writable') return
    if (!spend(data.byteLength)) {
      const reason = new Error('the connection has carried its bytes')
      from.abort(reason)
      to.abort(reason)
    } else if (!to.send(data) && from.readStatus === 'readable') {
      from.pause()
    }
  })
  to.addEventListener('drain', () => {
    if (from.readStatus === 'paused') from.resume()
  })
  from.addEventListener('end', () => {
    to.close().catch(() => {})
  })
  from.addEventListener('close', ({ error }) => {
    if (error !== undefined) to.abort(error)
    else after(LINGER_MS, () => to.abort(new Error('the other side is gone')))
  })
}
