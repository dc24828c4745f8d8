/**
 * Names that every host accepts, for what peers call otherwise.
 *
 * Hosts refuse names that others send: slashes, dots, two underscores, a digit first, more than 40 or so characters; some
 * then drop the whole server. On the channel a tool keeps its name; a host is shown an alias.
 *
 * Holds: aliases differ, match `^[A-Za-z][A-Za-z0-9_]{0,39}$` and have no `__`. Where there are several peers, an alias
 * begins with its peer's prefix and `_`, and a prefix has no `_`: the names of one peer are never those of another,
 * whoever else is there and whatever they list. The alias depends on the own peer's label and names, and on nothing else.
 *
 * @module
 */
import { createHash } from 'node:crypto'

export const MAX_ALIAS_CHARS = 40
/** Leaves about half of an alias to what the peer calls it. */
export const MAX_PREFIX_CHARS = 20
const HASH_CHARS = 6
/** Labels are chosen by hand, and few: nobody meets two whose hashes begin alike for so long. */
const PREFIX_HASH_CHARS = 10
const LABEL = /^[a-z0-9][a-z0-9._-]*$/
const SAFE = /^[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*$/

/**
 * What begins the names of the peer with that label. Different labels have different prefixes: labels are in lower case,
 * so capitals are free to stand for what a prefix cannot have. `A` to `W` are `-a` to `-w`; `X`, `Y` and `Z` are `-`, `.`
 * and `_`. One that begins with `P` had a digit there, one that begins with `L` is too long, or no label, and has a hash.
 */
export function aliasPrefix(label: string): string {
  const escaped = LABEL.test(label) ? escapeLabel(label) : undefined
  if (escaped !== undefined && escaped.length <= MAX_PREFIX_CHARS) return escaped
  const letters = label.replace(/[^A-Za-z0-9]+/g, '').slice(0, MAX_PREFIX_CHARS - 1 - PREFIX_HASH_CHARS)
  return `L${letters}${hashOf(label).slice(0, PREFIX_HASH_CHARS)}`
}

function escapeLabel(label: string): string {
  const word = label.replace(
    /-([a-w])|[._-]/g,
    (mark, letter: string | undefined) => letter?.toUpperCase() ?? SEPARATORS[mark] ?? '',
  )
  return /^[a-z]/.test(word) ? word : `P${word}`
}

const SEPARATORS: Readonly<Record<string, string>> = { '-': 'X', '.': 'Y', _: 'Z' }

/** The prefix with which the alias begins, if there is one at all. */
export function prefixIn(alias: string): string | undefined {
  return /^([A-Za-z0-9]+)_/.exec(alias)?.[1]
}

/**
 * Of each alias, the name. The order of the names does not matter.
 *
 * @param prefix of the peer; empty when there is one peer only
 */
export function aliasNames(prefix: string, names: readonly string[]): ReadonlyMap<string, string> {
  const room = prefix === '' ? MAX_ALIAS_CHARS : MAX_ALIAS_CHARS - prefix.length - 1
  const distinct = [...new Set(names)].sort()
  const wished = new Map(distinct.map((name) => [name, wish(name, room, prefix !== '')]))
  const safe = new Set(distinct.filter((name) => wished.get(name) === name))
  const others = distinct.filter((name) => !safe.has(name))
  const crowded = repeated(others.map((name) => wished.get(name) ?? ''))
  const given = new Map<string, string>()
  const isFree = (word: string): boolean => !given.has(word)
  // Names that are safe as they are come first: whoever wrote them may rely on them.
  for (const name of [...safe, ...others]) {
    const word = wished.get(name) ?? ''
    const isClear = isFree(word) && (safe.has(name) || !crowded.has(word))
    given.set(isClear ? word : hashed(word, hashOf(`${prefix}/${name}`), room, isFree), name)
  }
  return prefix === '' ? given : new Map([...given].map(([word, name]) => [`${prefix}_${word}`, name]))
}

/** @param isAfter it stands behind a prefix, and so may begin with a digit */
function wish(name: string, room: number, isAfter: boolean): string {
  if (name.length <= room && SAFE.test(isAfter ? `p_${name}` : name)) return name
  const plain = name.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '')
  if (plain === '') return 'tool'
  return cut(isAfter || /^[A-Za-z]/.test(plain) ? plain : `t_${plain}`, room)
}

/** The shortest hash of the real name that is free: the same whenever the same names are there. */
function hashed(word: string, hash: string, room: number, isFree: (word: string) => boolean): string {
  for (let length = HASH_CHARS; ; length += 1) {
    const candidate = `${cut(word, room - 1 - length)}_${hash.slice(0, length)}`
    // One letter stays. Nobody finds two names whose hashes begin alike for so long.
    if (isFree(candidate) || length === room - 2) return candidate
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function cut(word: string, length: number): string {
  return word.slice(0, Math.max(1, length)).replace(/_+$/, '')
}

function repeated(values: readonly string[]): ReadonlySet<string> {
  const seen = new Set<string>()
  const again = new Set<string>()
  for (const value of values) (seen.has(value) ? again : seen).add(value)
  return again
}
