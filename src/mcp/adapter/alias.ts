/**
 * Names of tools that every host accepts.
 *
 * Hosts refuse names that others send: slashes, dots, two underscores, a digit first, more than 40 or so characters; some
 * then drop the whole server. On the channel a tool keeps its name; a host is shown an alias.
 *
 * Holds: aliases differ, match `^[A-Za-z][A-Za-z0-9_]{0,39}$` and have no `__`. The alias of a tool depends on its own
 * peer's tools and on the peers named before it, never on those named after, nor on the order of a list.
 *
 * @module
 */
import { createHash } from 'node:crypto'

/** The tools of one peer. */
export interface PeerTools {
  /** Begins every alias of it; nothing when there is one peer only. */
  readonly prefix: string
  readonly names: readonly string[]
}

/** A tool of one of the peers. */
export interface AliasedTool {
  /** Which peer, by its place. */
  readonly peer: number
  readonly name: string
}

export const MAX_ALIAS_CHARS = 40
const HASH_CHARS = 6
const SAFE = /^[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*$/

/** Of each alias, the tool; peers in the order in which they were named. */
export function aliasTools(peers: readonly PeerTools[]): ReadonlyMap<string, AliasedTool> {
  const taken = new Map<string, AliasedTool>()
  for (const [peer, tools] of peers.entries()) {
    for (const [alias, name] of aliasesWithin(tools, taken)) taken.set(alias, { peer, name })
  }
  return taken
}

function aliasesWithin({ prefix, names }: PeerTools, taken: ReadonlyMap<string, unknown>): ReadonlyMap<string, string> {
  const distinct = [...new Set(names)].sort()
  const wished = new Map(distinct.map((name) => [name, wish(prefix, name)]))
  const safe = distinct.filter((name) => wished.get(name) === joined(prefix, name))
  const crowded = new Set(repeated([...wished].filter(([name]) => !safe.includes(name)).map(([, alias]) => alias)))
  const given = new Map<string, string>()
  const isFree = (alias: string): boolean => !taken.has(alias) && !given.has(alias)
  // Names that are safe as they are come first: whoever wrote them may rely on them.
  for (const name of [...safe, ...distinct.filter((other) => !safe.includes(other))]) {
    const alias = wished.get(name) ?? ''
    const isClear = isFree(alias) && (safe.includes(name) || !crowded.has(alias))
    given.set(isClear ? alias : hashed(alias, `${prefix}/${name}`, isFree), name)
  }
  return given
}

function joined(prefix: string, name: string): string {
  return prefix === '' ? name : `${prefix}_${name}`
}

function wish(prefix: string, name: string): string {
  const whole = joined(prefix, name)
  if (SAFE.test(whole) && whole.length <= MAX_ALIAS_CHARS) return whole
  const lettered = aliasWord(whole, 't_')
  return cut(lettered === 't_' ? 'tool' : lettered, MAX_ALIAS_CHARS)
}

/** Of any length. @param before what begins with no letter */
export function aliasWord(text: string, before: string): string {
  const plain = text.replace(/[^A-Za-z0-9]+/g, '_').replace(/^_+|_+$/g, '')
  return /^[A-Za-z]/.test(plain) ? plain : `${before}${plain}`
}

/** The shortest hash of the real name that is free: the same whenever the same names are there. */
function hashed(alias: string, name: string, isFree: (alias: string) => boolean): string {
  const hash = createHash('sha256').update(name).digest('hex')
  for (let length = HASH_CHARS; ; length += 1) {
    const candidate = `${cut(alias, MAX_ALIAS_CHARS - 1 - length)}_${hash.slice(0, length)}`
    if (isFree(candidate) || length === MAX_HASH_CHARS) return candidate
  }
}

/** Leaves room for one letter. Nobody finds two names whose hashes begin alike for so long. */
const MAX_HASH_CHARS = MAX_ALIAS_CHARS - 2

function cut(alias: string, length: number): string {
  return alias.slice(0, Math.max(1, length)).replace(/_+$/, '')
}

function repeated(values: readonly string[]): readonly string[] {
  return values.filter((value, index) => values.indexOf(value) !== index)
}
