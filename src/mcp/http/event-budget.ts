/**
 * How much is kept for clients that may come back.
 *
 * Holds: what is kept stays within the limit, here and in the budget above; what was kept longest gives way, first of
 * all what nobody waits for.
 *
 * @module
 */

/** Something that keeps events, and can let them go. */
export interface Keeper {
  /** Its last event was said, and nobody is reading it. */
  readonly isSettled: boolean
  /** Lets go of all; tells the budget itself. */
  readonly forget: () => void
}

export class EventBudget {
  readonly #limit: number
  readonly #above: EventBudget | undefined
  /** In the order in which they began to keep something. */
  readonly #held = new Map<Keeper, number>()
  #total = 0

  constructor(limit: number, above?: EventBudget) {
    this.#limit = limit
    this.#above = above
  }

  get total(): number {
    return this.#total
  }

  /** The keeper keeps so much more, or less. */
  change(keeper: Keeper, difference: number): void {
    const held = (this.#held.get(keeper) ?? 0) + difference
    this.#total += difference
    if (held === 0) this.#held.delete(keeper)
    else this.#held.set(keeper, held)
    this.#above?.change(keeper, difference)
    if (difference > 0) this.#keepWithin(keeper)
  }

  #keepWithin(newest: Keeper): void {
    while (this.#total > this.#limit) {
      const others = [...this.#held.keys()].filter((keeper) => keeper !== newest)
      const loser = others.find(({ isSettled }) => isSettled) ?? others[0]
      if (loser === undefined) return
      loser.forget()
    }
  }
}
