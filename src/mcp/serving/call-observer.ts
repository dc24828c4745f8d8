/**
 * Who watches what a peer asks, without a part in it.
 *
 * Holds: an observer sees names that this side gave to tools and methods, never one that a peer made up, and nothing of
 * what was asked or answered.
 *
 * @module
 */
import { type ErrorCode } from '../../core/errors.ts'

export interface Asked {
  readonly kind: 'tool' | 'method'
  /** Missing where this side has nothing of the name that was asked for. */
  readonly name?: string
}

export interface CallObserver {
  /** A request is executed; what is returned comes back at its end. */
  readonly began: () => number
  readonly ended: (began: number, asked: Asked, outcome: ErrorCode | 'ok') => void
  /** A request is turned away before anything of it is executed. */
  readonly refused: (asked: Asked, code: ErrorCode) => void
}
