/**
 * WebSockets as members dial them.
 *
 * Holds: nothing is sent to a front door whose certificate does not verify.
 *
 * @module
 */
import { type Transport } from '@libp2p/interface'
import { webSockets } from '@libp2p/websockets'
import { type Multiaddr } from '@multiformats/multiaddr'
import { WebSocket } from 'ws'
import { CtError } from '../../core/errors.ts'
import { Authorities, connectSecurely } from './secure-socket.ts'

/** Far more than libp2p sends at once. */
const MAX_MESSAGE_BYTES = 16 * 1_048_576
/** "Abnormal closure", which is for programs to say to themselves and never on the wire. */
const ABORTED = 1_006
/** Until a peer that was told of the end has ended its side. */
const CLOSE_TIMEOUT_MS = 3_000

type Components = Parameters<ReturnType<typeof webSockets>>[0]

export interface WebSocketTrust {
  /** PEM; trusted besides those that everybody trusts. */
  readonly certificates: readonly string[]
}

/** @returns a transport that dials */
export function diallingWebSockets({ certificates }: WebSocketTrust): (components: Components) => Transport {
  const authorities = new Authorities(certificates)
  return (components) => {
    const transport = webSockets()(components)
    if (!('_connect' in transport)) throw new TypeError('expected a transport that connects WebSockets')
    const connect = (address: Multiaddr, { signal }: { readonly signal: AbortSignal }): Promise<WebSocket> =>
      openWebSocket(address, authorities, signal)
    return Object.assign(transport, { _connect: connect })
  }
}

async function openWebSocket(address: Multiaddr, authorities: Authorities, signal: AbortSignal): Promise<WebSocket> {
  signal.throwIfAborted()
  const { host, port, isSecure } = placeOf(address)
  const socket = isSecure ? await connectSecurely({ host, port }, authorities, signal) : undefined
  const url = `${isSecure ? 'wss' : 'ws'}://${host.includes(':') ? `[${host}]` : host}:${port}`
  const webSocket = new WebSocket(url, {
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTES,
    closeTimeout: CLOSE_TIMEOUT_MS,
    ...(socket === undefined ? {} : { createConnection: () => socket }),
  })
  webSocket.binaryType = 'arraybuffer'
  await opened(webSocket, signal)
  return resettable(webSocket)
}

function opened(webSocket: WebSocket, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)))
      webSocket.terminate()
    }
    signal.addEventListener('abort', abort, { once: true })
    // Also of one that is open: without a listener, an error would end the process. The end itself is told apart.
    webSocket.on('error', (error) => {
      signal.removeEventListener('abort', abort)
      reject(error)
    })
    webSocket.once('open', () => {
      signal.removeEventListener('abort', abort)
      resolve()
    })
  })
}

function placeOf(address: Multiaddr): { readonly host: string; readonly port: number; readonly isSecure: boolean } {
  const match = /^\/(?:ip4|ip6|dns[46]?)\/([^/]+)\/tcp\/(\d+)\/(ws|wss|tls\/ws)(?:\/|$)/.exec(address.toString())
  const [, host, port, kind] = match ?? []
  if (host === undefined || port === undefined) {
    throw new CtError('ERR_PEER_UNREACHABLE', `expected the address of a WebSocket, found ${address.toString()}`)
  }
  return { host, port: Number(port), isSecure: kind !== 'ws' }
}

/** What is gone when it is aborted: the package would send a code that may not be sent, and leave the socket open. */
export function resettable(webSocket: WebSocket): WebSocket {
  const close = webSocket.close.bind(webSocket)
  return Object.assign(webSocket, {
    close: (code?: number, reason?: string) => (code === ABORTED ? webSocket.terminate() : close(code, reason)),
  })
}
