/**
 * Binary form of the usage receipt: provider ‖ consumer ‖ kind ‖ model with its length ‖ units ‖ match reference ‖
 * issued_at ‖ request hash ‖ response hash ‖ provider's signature ‖ consumer's signature.
 *
 * Holds: a receipt has one binary form, and every byte of it is read. A draft has none.
 *
 * @module
 */
import { decodeUtf8, fromHex, toHex } from '../core/bytes.ts'
import { malformed } from '../core/exact-json.ts'
import { type Hash, type HolderId, KEY_BYTES, SIGNATURE_BYTES, type Signature } from '../core/ids.ts'
import { text } from '../core/json-shape.ts'
import { Preimage } from '../core/preimage.ts'
import { type U64 } from '../core/u64.ts'
import { CAPACITY_TAGS, type CapacityKind } from './capacity-kind.ts'
import { addReceipt, type ReceiptParty, type SignedReceipt, USAGE_RECEIPT } from './receipt.ts'

/** @throws {CtError} `ERR_ARTEFACT_INVALID` when a signature is missing */
export function encodeReceipt({ body, signatures }: SignedReceipt): Uint8Array {
  const signatureOf = (party: ReceiptParty): Uint8Array => {
    const bytes = fromHex(signatures[party] ?? '')
    if ('problem' in bytes || bytes.length !== SIGNATURE_BYTES) {
      throw malformed(`${USAGE_RECEIPT.name}: expected the signature of the ${party}, found none`)
    }
    return bytes
  }
  return addReceipt(new Preimage('', 'bare'), body)
    .fixed(signatureOf('provider'), SIGNATURE_BYTES)
    .fixed(signatureOf('consumer'), SIGNATURE_BYTES)
    .bytes()
}

/** @throws {CtError} `ERR_ARTEFACT_INVALID` */
export function decodeReceipt(bytes: Uint8Array): SignedReceipt {
  const fields = new Fields(bytes)
  const body = {
    provider: fields.hex(KEY_BYTES) as HolderId,
    consumer: fields.hex(KEY_BYTES) as HolderId,
    kind: fields.kind(),
    model: fields.text(),
    unitsConsumed: fields.u64(),
    matchRef: fields.hex(KEY_BYTES) as Hash,
    issuedAt: fields.u64(),
    requestHash: fields.hex(KEY_BYTES) as Hash,
    responseHash: fields.hex(KEY_BYTES) as Hash,
  }
  const signatures = {
    provider: fields.hex(SIGNATURE_BYTES) as Signature,
    consumer: fields.hex(SIGNATURE_BYTES) as Signature,
  }
  fields.end()
  return { body, signatures }
}

/** The fields of a binary form, one after the other; so many bytes give so many hex digits, so ids need no parsing. */
class Fields {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  hex(length: number): string {
    const start = this.#skip(length)
    return toHex(this.#bytes.subarray(start, start + length))
  }

  u64(): U64 {
    return this.#view.getBigUint64(this.#skip(8), true) as U64
  }

  kind(): CapacityKind {
    const tag = this.#view.getUint8(this.#skip(1))
    for (const [kind, known] of Object.entries(CAPACITY_TAGS)) if (known === tag) return kind as CapacityKind
    throw this.#malformed(`expected a kind of capacity, found the byte ${tag}`)
  }

  text(): string {
    const length = this.#view.getUint32(this.#skip(4), true)
    const start = this.#skip(length)
    const value = decodeUtf8(this.#bytes.subarray(start, start + length))
    if (value === undefined) throw this.#malformed('expected valid UTF-8, found other bytes')
    return text(value, `${USAGE_RECEIPT.name} bytes`)
  }

  end(): void {
    const left = this.#bytes.length - this.#at
    if (left > 0) throw this.#malformed(`expected the end, found ${left} more bytes`)
  }

  /** Where the field begins, which must lie within the bytes. */
  #skip(length: number): number {
    const start = this.#at
    const left = this.#bytes.length - start
    if (length > left) throw this.#malformed(`expected ${length} more bytes, found ${left}`)
    this.#at = start + length
    return start
  }

  #malformed(problem: string): Error {
    return malformed(`${USAGE_RECEIPT.name} bytes malformed: ${problem}`)
  }
}
