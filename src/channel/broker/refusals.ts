/**
 * What a broker tells those it turns away.
 *
 * @module
 */
import { CtError, isCtError } from '../../core/errors.ts'

const SHUTDOWN_RETRY_MS = 2_000

/** @param retryAfterMs when coming again may help */
export function busy(reason: string, retryAfterMs: number): CtError {
  return new CtError('ERR_PEER_BUSY', reason, { detail: { category: 'busy', retryAfterMs } })
}

export function refusal(category: string, reason: string): CtError {
  return new CtError('ERR_PEER_REFUSED', reason, { detail: { category } })
}

export function shuttingDown(): CtError {
  return new CtError('ERR_PEER_SHUTDOWN', 'the broker is shutting down', {
    detail: { category: 'busy', retryAfterMs: SHUTDOWN_RETRY_MS },
  })
}

export function grantExpired(): CtError {
  return new CtError('ERR_GRANT_EXPIRED', 'the grant has expired', { detail: { category: 'grant-verify' } })
}

/** The original program's word for it; `busy` for what later may succeed. */
export function categoryOf(error: CtError): string {
  const { category } = error.detail
  if (typeof category === 'string') return category
  return isCtError(error, ...MALFORMED) ? 'malformed' : 'busy'
}

const MALFORMED = ['ERR_PROTOCOL', 'ERR_VERSION_UNSUPPORTED', 'ERR_ARTEFACT_INVALID', 'ERR_SIGNATURE_INVALID'] as const
