/**
 * How a member is found, removed, and let in again. Pure: a page of the roster is all that it needs.
 *
 * @module
 */
import { quote } from '../../core/env.ts'
import { CtError } from '../../core/errors.ts'
import { type HolderId, parseHolderId } from '../../core/ids.ts'
import { nearest } from '../../core/nearest.ts'
import { type Rights } from '../../core/rights.ts'
import { type U64, type UnixSeconds } from '../../core/u64.ts'
import { grantFrom } from './grant-life.ts'
import { MAX_REMOVALS, type MemberRecord, type OpenedInvitation, type RosterPage, type RosterView } from './roster.ts'

/** Fewer digits of a key would too easily fit two. */
const LEAST_DIGITS = 8

export interface Found {
  readonly holder: HolderId
  /** Missing for somebody who only has the ticket. */
  readonly member: MemberRecord | undefined
}

/** By its name, its key, or the first digits of its key. @throws {CtError} `ERR_USAGE` */
export function findMember(page: RosterView, word: string): Found {
  const members = page.members()
  const named = members.find(({ name }) => name === word.toLowerCase())
  if (named !== undefined) return { holder: named.holder, member: named }
  const key = parseHolderId(word)
  if ('value' in key) return { holder: key.value, member: page.member(key.value) }
  const fitting = startingWith(members, ({ holder }) => holder, word)
  const [only] = fitting
  if (only !== undefined && fitting.length === 1) return { holder: only.holder, member: only }
  throw notFound(
    'member',
    word,
    fitting.length,
    members.map(({ name }) => name),
  )
}

/** By its id, which is the beginning of its key, or its name if only one has that. @throws {CtError} `ERR_USAGE` */
export function findInvitation(page: RosterView, word: string): OpenedInvitation {
  const invitations = page.invitations()
  const named = invitations.filter(({ name, revokedAt }) => name === word && revokedAt === undefined)
  const fitting = named.length > 0 ? named : startingWith(invitations, ({ invitee }) => invitee, word)
  const [only] = fitting
  if (only !== undefined && fitting.length === 1) return only
  throw notFound(
    'invitation',
    word,
    fitting.length,
    invitations.flatMap(({ name }) => name ?? []),
  )
}

function startingWith<Kept>(all: readonly Kept[], keyOf: (kept: Kept) => string, word: string): readonly Kept[] {
  const digits = word.toLowerCase()
  return /^[0-9a-f]+$/.test(digits) && digits.length >= LEAST_DIGITS
    ? all.filter((kept) => keyOf(kept).startsWith(digits))
    : []
}

function notFound(what: string, word: string, fitting: number, names: readonly string[]): CtError {
  const expected = `expected the name or key of ${what === 'member' ? 'a member' : 'an invitation'}`
  if (fitting > 1) return new CtError('ERR_USAGE', `${expected}, found ${fitting} that ${quote(word)} may stand for`)
  const close = nearest(word, names)
  const list = `see ct-agent ${what === 'member' ? 'member' : 'invite'} list`
  const more = close === undefined ? list : `did you mean ${close}?`
  return new CtError('ERR_USAGE', `${expected}, found ${quote(word)}; ${more}`)
}

/** True when it was not removed before. @throws {CtError} `ERR_USAGE` when too many were */
export function removeHolder(page: RosterPage, { holder, member }: Found, now: UnixSeconds): boolean {
  if (page.isRemoved(holder)) return false
  if (page.removals().length >= MAX_REMOVALS) {
    throw new CtError(
      'ERR_USAGE',
      `expected at most ${MAX_REMOVALS} removed keys; let some in again, or begin a new channel`,
    )
  }
  page.remove({ holder, removedAt: now, endsAt: lastEnd(page, member, now) })
  return true
}

/** When the last of what the holder may have to show expires. */
function lastEnd(page: RosterView, member: MemberRecord | undefined, now: UnixSeconds): UnixSeconds {
  const ends = [
    now,
    member?.grantEnds ?? now,
    page.place()?.ticketEnds ?? now,
    ...page.invitations().map(({ sealed }) => sealed.body.expiresAt),
  ]
  return ends.reduce((latest, end) => (end > latest ? end : latest))
}

/** What is to be another way with a member; what is missing stays. */
export interface Change {
  readonly rights?: Rights
  /** All with `undefined`. */
  readonly tools?: readonly string[] | undefined
  readonly name?: string
}

/** The member as it is from now on, with a fresh grant, and let in again if it was removed. @throws {CtError} `ERR_USAGE` */
export function renewMember(
  page: RosterPage,
  { holder, member }: Found,
  change: Change,
  { now, grantSeconds }: { readonly now: UnixSeconds; readonly grantSeconds: U64 },
): MemberRecord | undefined {
  if (member === undefined && !page.isRemoved(holder)) {
    throw new CtError('ERR_USAGE', 'expected the name or key of a member, found a key that is none')
  }
  if (page.isRemoved(holder)) page.forgive(holder, now)
  if (member === undefined) return undefined
  if (change.name !== undefined && change.name !== member.name && page.isNameTaken(change.name)) {
    throw new CtError('ERR_USAGE', `expected a name that no member has, found ${change.name}`)
  }
  const renewed = { ...member, ...change, ...grantFrom(now, grantSeconds, member) }
  page.putMember(renewed)
  return renewed
}
