/**
 * What a member of a channel may do with another one.
 *
 * @module
 */
export const RIGHTS = ['r', 'w', 'rw'] as const

/** Reading, writing, or both. */
export type Rights = (typeof RIGHTS)[number]

/** One of the two. */
export type Right = 'r' | 'w'

export function hasRight(rights: Rights, right: Right): boolean {
  return rights.includes(right)
}
