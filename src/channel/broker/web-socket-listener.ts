/**
 * The WebSocket address of a broker, its front door.
 *
 * Holds: a connection that does not become a WebSocket in {@link UPGRADE_MS} is ended; there are never more than
 * {@link MAX_UPGRADING} such, and one address has a share of them only.
 *
 * @module
 */
import { type IncomingMessage } from 'node:http'
import { type Server, type Socket } from 'node:net'
import { type CreateListenerOptions, type Listener, type Transport } from '@libp2p/interface'
import { webSockets } from '@libp2p/websockets'
import { type WebSocket } from 'ws'
import { type Clock } from '../../core/time.ts'
import { resettable } from '../node/web-socket.ts'
import { plainHost } from './passed-addresses.ts'
import { sourceOf } from './quota.ts'

/** Time from a TCP connection to a WebSocket, TLS included. */
export const UPGRADE_MS = 10_000
const MAX_UPGRADING = 1_024
export const MAX_UPGRADING_OF_SOURCE = 256

type Components = Parameters<ReturnType<typeof webSockets>>[0]

export interface Tls {
  /** PEM */
  readonly cert: string
  /** PEM */
  readonly key: string
}

/** @returns a transport that listens, with TLS where there is a certificate */
export function listeningWebSockets(tls: Tls | undefined, clock: Clock): (components: Components) => Transport {
  return (components) => {
    const transport = webSockets(tls === undefined ? {} : { https: { ...tls } })(components)
    const create = transport.createListener.bind(transport)
    return Object.assign(transport, {
      createListener: (options: CreateListenerOptions) => guarded(create(options), new Upgrades(clock)),
    })
  }
}

/** Connections that are about to become WebSockets. */
class Upgrades {
  readonly #clock: Clock
  readonly #underWay = new Map<string, { readonly source: string; readonly cancel: () => void }>()
  readonly #sources = new Map<string, number>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  begin(socket: Socket): void {
    const source = sourceOf(plainHost(socket.remoteAddress ?? ''))
    const count = this.#sources.get(source) ?? 0
    const isGone = socket.remoteAddress === undefined
    if (isGone || this.#underWay.size >= MAX_UPGRADING || count >= MAX_UPGRADING_OF_SOURCE) {
      socket.destroy()
      return
    }
    const key = endOf(socket)
    this.#sources.set(source, count + 1)
    this.#underWay.set(key, { source, cancel: this.#clock.after(UPGRADE_MS, () => socket.destroy()) })
    socket.once('close', () => this.over(key))
  }

  over(key: string): void {
    const upgrade = this.#underWay.get(key)
    if (upgrade === undefined) return
    upgrade.cancel()
    this.#underWay.delete(key)
    const left = (this.#sources.get(upgrade.source) ?? 0) - 1
    if (left > 0) this.#sources.set(upgrade.source, left)
    else this.#sources.delete(upgrade.source)
  }
}

interface InnerListener extends Listener {
  readonly server: Server
  readonly onWsServerConnection: (webSocket: WebSocket, request: IncomingMessage) => void
}

function guarded(listener: Listener, upgrades: Upgrades): Listener {
  if (!isInner(listener)) throw new TypeError('expected a listener of WebSockets')
  const { server, onWsServerConnection } = listener
  server.prependListener('connection', (socket: Socket) => upgrades.begin(socket))
  const taken = (webSocket: WebSocket, request: IncomingMessage): void => {
    upgrades.over(endOf(request.socket))
    onWsServerConnection.call(listener, resettable(webSocket), request)
  }
  return Object.assign(listener, { onWsServerConnection: taken })
}

function isInner(listener: Listener): listener is InnerListener {
  return 'server' in listener && 'onWsServerConnection' in listener
}

/** With TLS, the socket of a request is another object than that of its connection. */
function endOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
