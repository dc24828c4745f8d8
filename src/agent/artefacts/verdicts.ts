/**
 * The verdicts on the documents of one source, one after the other.
 *
 * Holds: no more than one document is kept, however many there are, and the program can be stopped at any time.
 *
 * @module
 */
import { type CtError, toCtError } from '../../core/errors.ts'
import { verify, verifyMany } from '../../core/keys.ts'
import { abortable, type Clock, pause } from '../../core/time.ts'
import { type ArtefactReader, type Checked, type Reading } from './artefact-reading.ts'
import { type JsonDocument } from './json-documents.ts'
import { type Checks, checksNow } from './verify-settings.ts'

export interface Verdict {
  readonly index: number
  /** `undefined` when the document is no artefact of this kind. */
  readonly reading: Reading | undefined
  readonly outcome: { readonly checked: Checked } | { readonly error: CtError }
}

/** How long the event loop may wait for us. */
const TURN_MS = 20

export interface VerdictDeps {
  readonly reader: ArtefactReader
  readonly checks: Checks
  readonly clock: Clock
  readonly signal: AbortSignal
}

export async function* verdictsOn(documents: AsyncIterable<JsonDocument>, deps: VerdictDeps): AsyncGenerator<Verdict> {
  const { clock, signal } = deps
  const iterator = documents[Symbol.asyncIterator]()
  let turnBegan = clock.monotonic()
  for (;;) {
    const next = await abortable(iterator.next(), signal)
    if (next.done === true) return
    yield await judge(next.value, deps)
    if (clock.monotonic() - turnBegan < TURN_MS) continue
    await pause(clock, 0, signal)
    turnBegan = clock.monotonic()
  }
}

async function judge(document: JsonDocument, { reader, checks, clock }: VerdictDeps): Promise<Verdict> {
  const { index } = document
  let reading: Reading | undefined
  try {
    if ('problem' in document) throw document.problem
    reading = reader.read(document.text)
    const verifier = index === 1 ? verify : verifyMany
    const checked = await reading.check({ ...checksNow(checks, clock), verifier })
    return { index, reading, outcome: { checked } }
  } catch (error) {
    const failure = toCtError(error)
    if (failure.code === 'ERR_INTERNAL') throw error
    return { index, reading, outcome: { error: failure } }
  }
}

/** How many of each there were. */
export class Tally {
  #valid = 0
  #legacy = 0
  #invalid = 0
  #firstFailure: CtError | undefined

  add({ outcome }: Verdict): void {
    if ('error' in outcome) {
      this.#invalid += 1
      this.#firstFailure ??= outcome.error
    } else {
      this.#valid += 1
      if (outcome.checked.form === 'legacy') this.#legacy += 1
    }
  }

  get count(): number {
    return this.#valid + this.#invalid
  }

  get firstFailure(): CtError | undefined {
    return this.#firstFailure
  }

  /** `9 998 valid, 2 invalid` */
  summary(): string {
    const legacy = this.#legacy === 0 ? '' : ` (${grouped(this.#legacy)} in the legacy form)`
    return `${grouped(this.#valid)} valid${legacy}, ${grouped(this.#invalid)} invalid`
  }
}

/** Digits in groups of three. */
export function grouped(count: number): string {
  return count.toString().replace(/\B(?=(\d{3})+$)/g, ' ')
}
