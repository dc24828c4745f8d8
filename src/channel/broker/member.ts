/**
 * A stream of a member, and what it has come to at the broker.
 *
 * @module
 */
import { type UnixSeconds } from '../../core/u64.ts'
import { type Address } from '../address.ts'
import { type RoomName } from './kept-lists.ts'
import { type MemberLink } from './member-link.ts'
import { passedAddresses } from './passed-addresses.ts'
import { type Seat } from './room.ts'

export interface Member {
  readonly link: MemberLink
  state:
    | { readonly kind: 'new'; readonly joinBy: number }
    /** Brings a revocation list, and has no seat. */
    | { readonly kind: 'publishing'; readonly room: RoomName; readonly until: number }
    | (Joined & { readonly kind: 'seated' })
    | (Joined & { readonly kind: 'passing'; readonly until: number })
    | { readonly kind: 'gone' }
}

export interface Joined {
  readonly seat: Seat
  readonly advertised: readonly Address[]
  readonly expiresAt: UnixSeconds
  /** Of an initiator. */
  readonly waitUntil: number
  hintAt: number
}

/** Time to say which room. */
export const JOIN_MS = 10_000
/** How long an initiator waits before it is asked to join again. */
export const WAIT_SECONDS = 30
/** Three signs of life that did not come. */
export const SILENCE_MS = 45_000
/** A partner may come a little later than the member; only then is it worth a word. */
export const HINT_MS = 5_000
/** How long an initiator that ended its stream after it met its acceptor may still be relayed there. */
export const PASS_MS = 60_000

/** What time has made due: nothing, most of the time. */
export type Due = 'not-joined' | 'over' | 'grant-expired' | 'silent' | 'waited' | 'hint' | undefined

/** @param second of the wall clock, by which grants are counted */
export function dueOf({ state, link }: Member, now: number, second: UnixSeconds): Due {
  switch (state.kind) {
    case 'new':
      return now >= state.joinBy ? 'not-joined' : undefined
    case 'passing':
    case 'publishing':
      return now >= state.until ? 'over' : undefined
    case 'seated':
      if (second >= state.expiresAt) return 'grant-expired'
      if (now - link.heardAt >= SILENCE_MS) return 'silent'
      if (state.seat.isWaiting && now >= state.waitUntil) return 'waited'
      return now >= state.hintAt ? 'hint' : undefined
    case 'gone':
      return undefined
  }
}

/** Tells one member of another, and where that may be reached. */
export function introduce(reader: Member, { link, state }: Member): void {
  const { holder, observed } = link.peer
  const advertised = 'advertised' in state ? state.advertised : []
  const located = { observed: reader.link.peer.observed, advertised: [] }
  reader.link.send({ kind: 'peer', holder, addresses: passedAddresses({ observed, advertised }, located) })
}
