/**
 * The end of a byte stream of any length, in bounded memory.
 *
 * @module
 */
export class TailBuffer {
  readonly #capacity: number
  #chunks: Uint8Array[] = []
  #kept = 0
  #total = 0

  constructor(capacityBytes: number) {
    this.#capacity = capacityBytes
  }

  /** Bytes that went through. */
  get totalBytes(): number {
    return this.#total
  }

  push(chunk: Uint8Array): void {
    this.#total += chunk.length
    // A copy, because a small part would keep the whole of a large chunk alive.
    const end = Uint8Array.from(chunk.subarray(-this.#capacity))
    this.#chunks.push(end)
    this.#kept += end.length
    if (this.#kept > 2 * this.#capacity) this.#compact()
  }

  /** The last bytes, at most as many as the capacity. */
  bytes(): Uint8Array {
    this.#compact()
    return this.#chunks[0] ?? new Uint8Array()
  }

  #compact(): void {
    const end = Uint8Array.from(Buffer.concat(this.#chunks).subarray(-this.#capacity))
    this.#chunks = [end]
    this.#kept = end.length
  }
}
