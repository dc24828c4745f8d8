/**
 * Wire of `/ct-agent/punch/1`: what two members say to each other, over the relay, to meet without it. CBOR maps with
 * text keys, framed as those of the rendezvous; unknown kinds and keys are ignored, so all may grow.
 *
 * The caller opens the stream. Both say where they are, the caller first; then the caller calls the rounds, one after the
 * other, until it has what it wants, and closes the stream.
 *
 * @module
 */
import { encode } from 'cborg'
import { formatAddress } from '../address.ts'
import { messageReader } from '../cbor-message.ts'
import { isCount } from '../strict-cbor.ts'
import { MAX_ROUND_MS, type Round, type Standing } from './plan.ts'

export const PUNCH_PROTOCOL = '/ct-agent/punch/1'
export const MAX_PUNCH_BYTES = 1_024
/** Addresses a member names. */
export const MAX_NAMED = 8

export interface Here extends Standing {
  readonly kind: 'here'
}

/** Begins a round now. */
export interface Go {
  readonly kind: 'go'
  readonly round: Round
  readonly ms: number
}

export type PunchMessage = Here | Go

export function encodePunch(message: PunchMessage): Uint8Array {
  if (message.kind === 'go') return encode({ t: 'go', round: message.round, ms: message.ms })
  const { seen, isOpen, at } = message
  return encode({
    t: 'here',
    ...(seen === undefined ? {} : { seen: formatAddress(seen) }),
    open: isOpen,
    at: at.slice(0, MAX_NAMED).map(formatAddress),
  })
}

/** `undefined` for a kind that is not known. @throws {CtError} `ERR_PROTOCOL` */
export function parsePunch(payload: Uint8Array): PunchMessage | undefined {
  const map = readMap(payload)
  switch (map.get('t')) {
    case 'here':
      return {
        kind: 'here',
        ...(map.has('seen') ? { seen: addressIn(map.get('seen')) } : {}),
        isOpen: map.get('open') === true,
        at: addressesIn(map.get('at'), MAX_NAMED),
      }
    case 'go': {
      const [round, ms] = [map.get('round'), map.get('ms')]
      if (round !== 'cross' && round !== 'receive') return undefined
      if (!isCount(ms)) throw malformed('expected a round to last some milliseconds')
      return { kind: 'go', round, ms: Math.min(ms, MAX_ROUND_MS) }
    }
    default:
      return undefined
  }
}

const { readMap, addressIn, addressesIn, malformed } = messageReader('punch')
