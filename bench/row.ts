/**
 * A row of the benchmark: what is measured, in which unit, and what is wanted.
 *
 * @module
 */
import { median } from './statistics.ts'

export interface Measured {
  readonly subject: string
  /** One value a round; values of the same round belong together. */
  readonly values: readonly number[]
}

export type Goal =
  | { readonly kind: 'at most' | 'at least'; readonly value: number }
  /** Compared round by round with another subject. */
  | { readonly kind: 'at most' | 'at least'; readonly times: number; readonly of: string }

export interface Figure {
  readonly title: string
  readonly unit: string
  readonly better: 'lower' | 'higher'
  readonly goals: readonly Goal[]
  readonly measured: readonly Measured[]
  /** What a number alone would not say. */
  readonly note?: string
}

export interface Effort {
  readonly rounds: number
  /** Time for one sustained load, in milliseconds. */
  readonly loadMs: number
  /** Peers of the row with many idle peers. */
  readonly peers: number
  /** Bytes that go through a raw pipe. */
  readonly pipedBytes: number
  /** Bytes offered to a reader that has stalled. */
  readonly offeredBytes: number
}

export interface Row {
  /** Word that picks the row on the command line. */
  readonly name: string
  readonly run: (effort: Effort) => Promise<readonly Figure[]>
}

/** The subject that is ours. */
export const OURS = 'ct-agent'

export interface Verdict {
  readonly text: string
  readonly met: boolean
}

export function judge({ measured, unit }: Figure, goal: Goal): Verdict {
  const ours = valuesOf(measured, OURS)
  const found = 'of' in goal ? ratio(ours, valuesOf(measured, goal.of)) : median(ours)
  const limit = 'of' in goal ? goal.times : goal.value
  const met = goal.kind === 'at most' ? found <= limit : found >= limit
  const text =
    'of' in goal
      ? `${goal.kind} ${goal.times} × ${goal.of}: ${found.toFixed(2)} ×`
      : `${goal.kind} ${goal.value} ${unit}`
  return { text, met }
}

/** Runs a measurement of every subject in turn, round after round, so that a slow minute of the machine hits all. */
export async function inRounds<Subject>(
  rounds: number,
  subjects: readonly Subject[],
  measure: (subject: Subject) => Promise<void>,
): Promise<void> {
  for (let round = 0; round < rounds; round += 1) {
    for (const subject of round % 2 === 0 ? subjects : subjects.toReversed()) await measure(subject)
  }
}

/** Collects values by subject, in the order in which subjects are named. */
export class Collector {
  readonly #values = new Map<string, number[]>()

  constructor(subjects: readonly string[]) {
    for (const subject of subjects) this.#values.set(subject, [])
  }

  add(subject: string, value: number): void {
    this.#values.get(subject)?.push(value)
  }

  get measured(): Measured[] {
    return [...this.#values].map(([subject, values]) => ({ subject, values }))
  }
}

function valuesOf(measured: readonly Measured[], subject: string): readonly number[] {
  return measured.find((entry) => entry.subject === subject)?.values ?? []
}

function ratio(values: readonly number[], others: readonly number[]): number {
  return median(values.map((value, round) => value / (others[round] ?? Number.NaN)))
}
