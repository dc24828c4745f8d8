/**
 * A TCP proxy on loopback through which a network goes wrong: resets, silence in one direction or both, a closed door,
 * and, for those who listen in, every byte that went through.
 *
 * @module
 */
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/** Seen from the side that connects. */
export type Direction = 'out' | 'in'
const DIRECTIONS: readonly Direction[] = ['out', 'in']

interface Link {
  readonly near: Socket
  readonly far: Socket
  /** What comes from there goes nowhere any more. */
  readonly lost: Set<Direction>
}

export class FaultProxy {
  readonly #server: Server
  readonly #links = new Set<Link>()
  readonly #held = new Set<Direction>()
  #target: number
  #isShut = false
  #tap: ((bytes: Uint8Array, direction: Direction) => void) | undefined

  /** @param target a port of this machine, which may be named later */
  static async open(target = 0): Promise<FaultProxy> {
    const proxy = new FaultProxy(target)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer((near) => this.#join(near))
  }

  get port(): number {
    const bound = this.#server.address()
    if (bound === null || typeof bound === 'string') throw new TypeError('expected a proxy that listens')
    return bound.port
  }

  get connections(): number {
    return this.#links.size
  }

  /** Where new connections go. */
  lead(target: number): void {
    this.#target = target
  }

  /** Shows all bytes from now on. */
  tap(see: (bytes: Uint8Array, direction: Direction) => void): void {
    this.#tap = see
  }

  /** RST to both ends of every connection. */
  reset(): void {
    for (const { near, far } of this.#links) {
      near.resetAndDestroy()
      far.resetAndDestroy()
    }
  }

  /** Nothing moves in these directions until `release`; nothing is lost. */
  hold(directions: readonly Direction[] = DIRECTIONS): void {
    for (const direction of directions) this.#held.add(direction)
    for (const link of this.#links) this.#flow(link)
  }

  release(): void {
    this.#held.clear()
    for (const link of this.#links) this.#flow(link)
  }

  /** On the connections that are open now, everything in these directions is lost for ever, and nobody is told. */
  lose(directions: readonly Direction[] = DIRECTIONS): void {
    for (const { lost } of this.#links) for (const direction of directions) lost.add(direction)
  }

  /** Resets what is open, and everybody who comes, until it is opened again. */
  shut(isShut: boolean): void {
    this.#isShut = isShut
    if (isShut) this.reset()
  }

  async close(): Promise<void> {
    this.reset()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(near: Socket): void {
    near.on('error', () => {})
    if (this.#isShut) {
      near.resetAndDestroy()
      return
    }
    const far = connect(this.#target, '127.0.0.1')
    const link: Link = { near, far, lost: new Set() }
    this.#links.add(link)
    this.#carry(link, 'out')
    this.#carry(link, 'in')
    this.#flow(link)
  }

  #carry(link: Link, direction: Direction): void {
    const [from, to] = ends(link, direction)
    from.setNoDelay(true)
    from.on('error', () => {})
    from.on('data', (chunk: Uint8Array) => {
      this.#tap?.(chunk, direction)
      if (link.lost.has(direction) || to.destroyed) return
      if (!to.write(chunk)) from.pause()
    })
    to.on('drain', () => this.#flow(link))
    from.on('end', () => {
      if (!link.lost.has(direction)) to.end()
    })
    from.on('close', () => {
      if (to.closed) this.#links.delete(link)
      // Who lost its words learns nothing of the end either.
      if (!link.lost.has(direction)) to.destroy()
    })
  }

  #flow(link: Link): void {
    for (const direction of DIRECTIONS) {
      const [from, to] = ends(link, direction)
      if (this.#held.has(direction)) from.pause()
      else if (!to.writableNeedDrain) from.resume()
    }
  }
}

function ends({ near, far }: Link, direction: Direction): readonly [from: Socket, to: Socket] {
  return direction === 'out' ? [near, far] : [far, near]
}
