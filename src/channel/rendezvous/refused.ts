/**
 * The last word of a broker, on every stream that it serves: why it turns somebody away.
 *
 * @module
 */
import { encode } from 'cborg'
import { CtError, type ErrorCode, retryAfterOf } from '../../core/errors.ts'
import { isPeerErrorCode } from '../../core/peer-codes.ts'
import { printable } from '../../core/printable.ts'
import { retryAfter } from '../strict-cbor.ts'
import { type Fields, MAX_REASON_CHARS, words } from './fields.ts'

export interface Refused {
  readonly kind: 'refused'
  readonly code: ErrorCode
  /** As the original program names it, such as `grant-verify`. */
  readonly category: string
  readonly reason: string
  readonly retryAfterMs?: number
}

export function refusedFor(error: CtError, category: string): Refused {
  const retryAfterMs = retryAfterOf(error)
  const { code, message: reason } = error
  return { kind: 'refused', code, category, reason, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}

/** @param what the broker refused, such as ` the join` */
export function refusalOf({ code, category, reason, retryAfterMs }: Refused, what = ''): CtError {
  const named = category === '' ? '' : ` (${category})`
  return new CtError(code, `the broker refused${what}${named}: ${reason}`, {
    detail: { category, byBroker: true, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
  })
}

export function encodeRefused({ code, category, reason, retryAfterMs }: Refused): Uint8Array {
  const retry = retryAfterMs === undefined ? {} : { retry: retryAfterMs }
  return encode({ t: 'refused', code, category, reason: printable(reason, MAX_REASON_CHARS), ...retry })
}

export function parseRefused(map: Fields): Refused {
  const code = map.get('code')
  return {
    kind: 'refused',
    code: isPeerErrorCode(code) ? code : 'ERR_PEER_REFUSED',
    category: words(map, 'category'),
    reason: words(map, 'reason'),
    ...retryAfter(map.get('retry')),
  }
}

/** @param cause what the far end answered instead */
export function noBroker(cause: Error): CtError {
  return new CtError('ERR_PROTOCOL', 'expected a broker of ct-agent, found something else', { cause })
}
