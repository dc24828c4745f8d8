/**
 * Lists that change while a link lasts, and who listens.
 *
 * @module
 */
import { type ListNews } from '../wire/subscriptions.ts'

type Listener = (news: ListNews) => void

export class News {
  readonly #listeners = new Set<Listener>()

  /** @returns what ends it */
  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  tell(news: ListNews): void {
    for (const listener of this.#listeners) listener(news)
  }
}
