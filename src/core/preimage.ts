/**
 * Bytes that a signature or a hash covers: `domain ‖ field ‖ …`.
 *
 * Holds: no preimage of one artefact is one of another, and different values never give the same bytes. In the framed
 * form both follow from one rule: whatever can vary in length carries its length. In the bare form, kept for artefacts
 * that were defined so, the domain carries none; its fields must then be of fixed length or carry theirs.
 *
 * Integers are little-endian; lengths and counts are u32.
 *
 * @module
 */
import { encodeUtf8, fromHex } from './bytes.ts'
import { type U64, u64 } from './u64.ts'

/** `framed`: the domain's length stands before it. `bare`: it does not. */
export type DomainForm = 'framed' | 'bare'

export class Preimage {
  readonly #parts: Uint8Array[] = []
  #length = 0

  /** @param domain names the artefact and its version, such as `ct-agent-card-v1` */
  constructor(domain: string, form: DomainForm = 'framed') {
    const bytes = utf8(domain)
    if (form === 'framed') this.#u32(bytes.length)
    this.#add(bytes)
  }

  /** Bytes whose number the domain fixes. */
  fixed(bytes: Uint8Array, length: number): this {
    if (bytes.length !== length) throw new RangeError(`expected ${length} bytes, found ${bytes.length}`)
    return this.#add(Uint8Array.from(bytes))
  }

  /** A key, an id or a hash of 32 bytes, given in hex. */
  id(hex: string): this {
    const bytes = fromHex(hex)
    if ('problem' in bytes) throw new RangeError(`expected hex, found ${bytes.problem}`)
    return this.fixed(bytes, ID_BYTES)
  }

  u64(value: U64): this {
    const bytes = new Uint8Array(8)
    // Refused by the type too, but cut to 64 bits here if it got through: two values would give the same bytes.
    new DataView(bytes.buffer).setBigUint64(0, u64(value), true)
    return this.#add(bytes)
  }

  /** One byte that tells alternatives apart. */
  tag(value: number): this {
    if (!Number.isInteger(value) || value < 0 || value > 0xff) throw new RangeError(`expected a byte, found ${value}`)
    return this.#add(Uint8Array.of(value))
  }

  /** UTF-8 with its length in bytes. */
  text(value: string): this {
    const bytes = utf8(value)
    return this.#u32(bytes.length).#add(bytes)
  }

  /** The number of items, then each. */
  list<Item>(items: readonly Item[], add: (preimage: this, item: Item) => void): this {
    this.#u32(items.length)
    for (const item of items) add(this, item)
    return this
  }

  bytes(): Uint8Array<ArrayBuffer> {
    const whole = new Uint8Array(this.#length)
    let at = 0
    for (const part of this.#parts) {
      whole.set(part, at)
      at += part.length
    }
    return whole
  }

  #u32(value: number): this {
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setUint32(0, value, true)
    return this.#add(bytes)
  }

  #add(bytes: Uint8Array): this {
    this.#parts.push(bytes)
    this.#length += bytes.length
    return this
  }
}

const ID_BYTES = 32

function utf8(text: string): Uint8Array {
  // Half of a surrogate pair has no UTF-8 form: two texts would give the same bytes.
  if (!text.isWellFormed()) throw new RangeError('expected valid Unicode, found half a surrogate pair')
  return encodeUtf8(text)
}
