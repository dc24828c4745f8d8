/**
 * Streams over which a member is about to ask for a seat.
 *
 * A member may ask for its seat and for the relay in one breath: whether the relay serves it is known when it has joined.
 *
 * @module
 */

export class Arrivals {
  readonly #coming = new Map<object, Set<object>>()
  readonly #waiting = new Map<object, PromiseWithResolvers<void>>()

  began(connection: object, stream: object): void {
    const coming = this.#coming.get(connection) ?? new Set()
    this.#coming.set(connection, coming.add(stream))
  }

  /** It has its seat, or will have none. Again does nothing. */
  over(connection: object, stream: object): void {
    const coming = this.#coming.get(connection)
    coming?.delete(stream)
    if (coming?.size !== 0) return
    this.#coming.delete(connection)
    this.#waiting.get(connection)?.resolve()
    this.#waiting.delete(connection)
  }

  /** Resolves when none of the connection is under way any more. */
  settled(connection: object): Promise<void> {
    if (!this.#coming.has(connection)) return Promise.resolve()
    const waiting = this.#waiting.get(connection) ?? Promise.withResolvers()
    this.#waiting.set(connection, waiting)
    return waiting.promise
  }
}
