/**
 * Messages that are CBOR maps with text keys, and what stands in them.
 *
 * @module
 */
import { CtError } from '../core/errors.ts'
import { type Address, parseAddress } from './address.ts'
import { decodeStrictly } from './strict-cbor.ts'

export type Fields = ReadonlyMap<unknown, unknown>

export interface MessageReader {
  /** @throws {CtError} `ERR_PROTOCOL` */
  readonly readMap: (payload: Uint8Array) => Fields
  /** @throws {CtError} `ERR_PROTOCOL` */
  readonly addressIn: (value: unknown) => Address
  /** @throws {CtError} `ERR_PROTOCOL` */
  readonly addressesIn: (list: unknown, most: number) => readonly Address[]
  /** What is wrong with a message. */
  readonly malformed: (problem: string) => CtError
}

/** @param name of the protocol, for messages of errors */
export function messageReader(name: string): MessageReader {
  const malformed = (problem: string): CtError => new CtError('ERR_PROTOCOL', `malformed ${name} message: ${problem}`)
  const addressIn = (value: unknown): Address => {
    const parsed = typeof value === 'string' ? parseAddress(value) : { problem: 'expected an address' }
    if ('problem' in parsed) throw malformed(parsed.problem)
    return parsed.value
  }
  return {
    malformed,
    addressIn,
    addressesIn: (list, most) => {
      if (!Array.isArray(list) || list.length > most) throw malformed(`expected at most ${most} addresses`)
      return list.map(addressIn)
    },
    readMap: (payload) => {
      let value: unknown
      try {
        value = decodeStrictly(payload)
      } catch (error) {
        throw new CtError('ERR_PROTOCOL', `expected a ${name} message in CBOR`, { cause: error })
      }
      if (!(value instanceof Map)) throw malformed('expected a map')
      return value
    },
  }
}
