/**
 * How many calls of each tool and method ended how, over the whole run.
 *
 * @module
 */
import { type Asked } from '../../mcp/index.ts'

/** Tools and outcomes are ours, so there are never so many; what would be more is counted together. */
const MAX_COUNTS = 512

export interface CallCount {
  /** `tool` or `method`, with its name where this side has one of that name. */
  readonly asked: Asked
  readonly outcome: string
  count: number
  ms: number
}

const OTHERS: Asked = { kind: 'method' }

export class CallCounts {
  readonly #counts = new Map<string, CallCount>()

  of(asked: Asked, outcome: string): CallCount {
    const key = `${asked.kind} ${asked.name ?? ''} ${outcome}`
    const known = this.#counts.get(key)
    if (known !== undefined) return known
    if (this.#counts.size >= MAX_COUNTS && asked !== OTHERS) return this.of(OTHERS, 'other')
    const made = { asked, outcome, count: 0, ms: 0 }
    this.#counts.set(key, made)
    return made
  }

  get all(): readonly CallCount[] {
    return [...this.#counts.values()]
  }
}
