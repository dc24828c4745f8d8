/**
 * Which lists make way for one more.
 *
 * Pure. Holds: what is made up in any number by one source pushes out what the same source brought, and nothing of those
 * that hold less; and nothing at all where that would not be enough.
 *
 * @module
 */

export interface KeptLimits {
  readonly lists: number
  /** In all lists together. */
  readonly holders: number
}

/** Of all, those of one source: anybody can make up operators, but not addresses. */
const SOURCE_SHARE = 0.5

/** A list, as far as it takes room. */
export interface Held {
  /** Who brought it. */
  readonly source: string
  readonly removed: { readonly size: number }
}

/**
 * Those that make way for another one; nothing where it finds no room.
 *
 * @param all the one that was used longest ago first, without the one that this one replaces
 * @param mayGo whether it may make way for others at all
 */
export function makeRoom<Kept extends Held>(
  all: readonly Kept[],
  next: Held,
  limits: KeptLimits,
  mayGo: (kept: Kept) => boolean,
): readonly Kept[] | undefined {
  const total = new Holdings<Kept>()
  const sources = new Map<string, Holdings<Kept>>()
  const holdingsOf = (source: string): Holdings<Kept> => {
    const known = sources.get(source) ?? new Holdings()
    sources.set(source, known)
    return known
  }
  const own = holdingsOf(next.source)
  for (const held of [...all, next]) for (const holdings of [total, holdingsOf(held.source)]) holdings.count(held, 1)
  const gone: Kept[] = []
  const dropFrom = (holdings: Holdings<Kept>, measure: Measure): boolean => {
    const victim = holdings.takeIdle(measure)
    if (victim === undefined) return false
    for (const less of [total, holdings]) less.count(victim, -1)
    gone.push(victim)
    return true
  }
  const share = { lists: Math.ceil(limits.lists * SOURCE_SHARE), holders: Math.ceil(limits.holders * SOURCE_SHARE) }
  if (own.excess(share) === undefined && total.excess(limits) === undefined) return gone
  for (const [age, kept] of all.entries()) if (mayGo(kept)) holdingsOf(kept.source).idle.push({ kept, age })
  for (let over = own.excess(share); over !== undefined; over = own.excess(share)) {
    if (!dropFrom(own, over)) return undefined
  }
  for (let over = total.excess(limits); over !== undefined; over = total.excess(limits)) {
    const most = greatest(sources.values(), over)
    if (most === undefined || most[over] < own[over] || !dropFrom(most, over)) return undefined
  }
  return gone
}

/** Of those that something can be taken of; of equals the one whose next was used longest ago. */
function greatest<Kept extends Held>(sources: Iterable<Holdings<Kept>>, measure: Measure): Holdings<Kept> | undefined {
  let most: Holdings<Kept> | undefined
  for (const holdings of sources) {
    const age = holdings.nextAge(measure)
    if (age === undefined) continue
    const ahead = most === undefined ? 1 : holdings[measure] - most[measure]
    if (ahead > 0 || (ahead === 0 && age < (most?.nextAge(measure) ?? 0))) most = holdings
  }
  return most
}

type Measure = keyof KeptLimits

class Holdings<Kept extends Held> {
  lists = 0
  holders = 0
  /** Those that may go, the longest unused first. */
  readonly idle: { readonly kept: Kept; readonly age: number }[] = []

  count({ removed }: Held, by: 1 | -1): void {
    this.lists += by
    this.holders += by * removed.size
  }

  excess(limits: KeptLimits): Measure | undefined {
    if (this.lists > limits.lists) return 'lists'
    return this.holders > limits.holders ? 'holders' : undefined
  }

  nextAge(measure: Measure): number | undefined {
    return this.idle[this.#next(measure)]?.age
  }

  takeIdle(measure: Measure): Kept | undefined {
    const at = this.#next(measure)
    return at < 0 ? undefined : this.idle.splice(at, 1)[0]?.kept
  }

  /** One that names nobody makes no room for holders. */
  #next(measure: Measure): number {
    return this.idle.findIndex(({ kept }) => measure === 'lists' || kept.removed.size > 0)
  }
}
