/**
 * A wire that counts the bytes that go over it.
 *
 * @module
 */
import { type Way } from './way.ts'
import { type Wire, type WireListener } from './wire.ts'

export class MeteredWire implements Wire {
  bytesIn = 0
  bytesOut = 0
  readonly #wire: Wire

  constructor(wire: Wire) {
    this.#wire = wire
  }

  get way(): Way | undefined {
    return this.#wire.way
  }

  write(parts: readonly Uint8Array[]): boolean {
    for (const part of parts) this.bytesOut += part.length
    return this.#wire.write(parts)
  }

  drained(): Promise<void> {
    return this.#wire.drained()
  }

  hold(held: boolean): void {
    this.#wire.hold(held)
  }

  finish(signal: AbortSignal): Promise<void> {
    return this.#wire.finish(signal)
  }

  destroy(reason: Error): void {
    this.#wire.destroy(reason)
  }

  listen({ onBytes, onEnd }: WireListener): void {
    this.#wire.listen({
      onBytes: (bytes) => {
        this.bytesIn += bytes.length
        onBytes(bytes)
      },
      onEnd,
    })
  }
}
