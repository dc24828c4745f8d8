/**
 * Why sessions end or do not begin.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type HolderId } from '../../core/ids.ts'
import { type UnixSeconds } from '../../core/u64.ts'
import { memberRemoved } from '../membership/credentials.ts'
import { isUnspoken } from '../node/optimistic-select.ts'
import { type Bye, type SessionMode } from './hello.ts'
import { type SessionPeer } from './session-options.ts'

/** A caller needs a server and a pipe a pipe; `undefined` when the two sides fit. */
export function modeMismatch(local: SessionMode, remote: SessionMode): CtError | undefined {
  const fits = local === 'pipe' ? remote === 'pipe' : local !== remote && remote !== 'pipe'
  if (fits) return undefined
  return new CtError(
    'ERR_PEER_REFUSED',
    `expected one side to serve and the other to call, or both to pipe, found ${local} and ${remote}`,
  )
}

/** The link broke without a bye. */
export function lost(error: Error | undefined): CtError {
  if (isUnspoken(error)) return new CtError('ERR_PROTOCOL', 'the peer does not speak the session protocol of ct-agent')
  const options = error === undefined ? {} : { cause: error }
  return new CtError('ERR_LINK_LOST', 'the connection broke without a word', options)
}

/** The peer takes nothing of what waits for it. */
export function slow(queuedBytes: number): CtError {
  return new CtError('ERR_PEER_SLOW', `the peer does not read: ${queuedBytes} bytes wait for it`)
}

export function unused(idleSeconds: number): CtError {
  return new CtError('ERR_SESSION_IDLE', `no message for ${idleSeconds} s`)
}

export function tooLarge(bytes: number, limit: number): CtError {
  return new CtError('ERR_MESSAGE_TOO_LARGE', `expected a message of at most ${limit} bytes, found ${bytes}`, {
    detail: { bytes, limit },
  })
}

/** The peer's grant, or one that it rests on, came to its end. */
export function membershipExpired(expiresAt: UnixSeconds): CtError {
  return new CtError('ERR_GRANT_EXPIRED', `the grant of this session expired at ${expiresAt}`, {
    detail: { category: 'grant-verify' },
  })
}

/** The bye that says so. */
export function goodbye({ code, message, detail }: CtError, final: boolean, retryAfterMs?: number): Bye {
  const { category } = detail
  return {
    code,
    reason: message,
    final,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(typeof category === 'string' ? { category } : {}),
  }
}

/** What the peer said as an error of ours. */
export function saidGoodbye({ code, reason, retryAfterMs, category }: Bye): CtError {
  const message = category === undefined ? reason : `[${category}] ${reason}`
  return new CtError(code, message, {
    detail: {
      byPeer: true,
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      ...(category === undefined ? {} : { category }),
    },
  })
}

/** Ends the sessions of this member, and of those whose membership rests on it. */
export function expel(sessions: Iterable<Expellable>, holder: HolderId, reason: CtError): void {
  // A copy: sessions that end are taken out of theirs.
  for (const session of [...sessions]) {
    const { holder: own, membership } = session.peer
    if (own === holder || membership?.chain.includes(holder) === true) session.end(reason)
  }
}

/** Ends the sessions of members that were removed, and of those whose membership rests on one. */
export function expelRemoved(sessions: Iterable<Expellable>, isRemoved: (holder: HolderId) => boolean): void {
  for (const session of [...sessions]) {
    const { holder: own, membership } = session.peer
    const removed = [own, ...(membership?.chain ?? [])].find(isRemoved)
    if (removed !== undefined) session.end(memberRemoved(removed))
  }
}

interface Expellable {
  readonly peer: SessionPeer
  readonly end: (reason: CtError) => void
}
