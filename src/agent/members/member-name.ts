/**
 * What a serving agent calls its members.
 *
 * Holds: a name is one word in lower case that stands for one member, cannot be taken for a key, and does nothing to a
 * terminal, whatever the newcomer would like to be called.
 *
 * @module
 */
import { type HolderId } from '../../core/ids.ts'
import { isPlainName, MAX_NAME_CHARS } from '../plain-name.ts'

/** A name is told from the beginning of a key: no name is all hex digits and as long. */
const KEY_LIKE = /^[0-9a-f]{8,}$/

/** True for a name that a member may have as it stands. */
export function isMemberName(text: string): boolean {
  return text.length <= MAX_NAME_CHARS && isPlainName(text) && !KEY_LIKE.test(text)
}

/** The nearest name to what somebody wrote; `undefined` when nothing of it can be one. */
export function nameFrom(wish: string): string | undefined {
  const name = wish
    .slice(0, MAX_WISH_CHARS)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9._-]+/g, '-')
    .slice(0, MAX_NAME_CHARS)
    .replace(/^[._-]+|[._-]+$/g, '')
  return isMemberName(name) ? name : undefined
}

/** What is looked at of a wish. */
const MAX_WISH_CHARS = 256

/** The name, or the first with a number after it, that nobody has. */
export function uniqueName(name: string, isTaken: (name: string) => boolean): string {
  for (let number = 1; ; number += 1) {
    const candidate = number === 1 ? name : numbered(name, `-${number}`)
    if (!isTaken(candidate)) return candidate
  }
}

function numbered(name: string, suffix: string): string {
  return `${name.slice(0, MAX_NAME_CHARS - suffix.length).replace(/[._-]+$/, '')}${suffix}`
}

/** For a newcomer that nobody named. */
export function nameOfKey(holder: HolderId): string {
  return `member-${holder.slice(0, 8)}`
}
