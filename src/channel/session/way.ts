/**
 * The way that a session takes to its peer.
 *
 * @module
 */

export interface Way {
  /**
   * `punched`: direct, through a hole that both sides made, which nobody can dial again. `front-door`: through a relay
   * that this side reaches as a WebSocket.
   */
  readonly kind: 'direct' | 'punched' | 'relay' | 'front-door'
  /** `host:port` of whatever this side talks to: the peer, or the relay. */
  readonly where: string
}

/** @param remote the far end of the connection as a multiaddr */
export function wayOf(remote: string, isPunched = false): Way {
  const [hop = '', circuit] = remote.split('/p2p-circuit', 2)
  return {
    kind: circuit === undefined ? (isPunched ? 'punched' : 'direct') : WEB_SOCKET.test(hop) ? 'front-door' : 'relay',
    where: placeOf(hop),
  }
}

const WEB_SOCKET = /\/wss?(\/|$)/

function placeOf(hop: string): string {
  const [, family, host, port] = HOST_AND_PORT.exec(hop) ?? []
  if (host === undefined || port === undefined) return hop
  return family === 'ip6' ? `[${host}]:${port}` : `${host}:${port}`
}

const HOST_AND_PORT = /^\/(ip4|ip6|dns|dns4|dns6)\/([^/]+)\/tcp\/(\d+)/
