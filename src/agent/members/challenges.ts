/**
 * Challenges that one link was given: what is signed over one was signed on this link, lately, and for one time. Only
 * who could not be answered through no fault of its own may use it again.
 *
 * @module
 */
import { CtError } from '../../core/errors.ts'
import { type Clock } from '../../core/time.ts'

export const CHALLENGE_BYTES = 32
export const CHALLENGE_LIFE_MS = 60_000
/** An honest newcomer needs one; the oldest gives way. */
const MAX_CHALLENGES = 4

export class Challenges {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #random: (bytes: number) => Uint8Array
  /** By their hex digits, oldest first: until when each is good. */
  readonly #open = new Map<string, number>()

  /** @param random bytes that nobody can guess */
  constructor(clock: Pick<Clock, 'monotonic'>, random: (bytes: number) => Uint8Array) {
    this.#clock = clock
    this.#random = random
  }

  /** A new one, as hex. */
  give(): string {
    const challenge = Buffer.from(this.#random(CHALLENGE_BYTES)).toString('hex')
    this.#keep(challenge, this.#clock.monotonic() + CHALLENGE_LIFE_MS)
    return challenge
  }

  /** Takes it out: it is used, unless it is put back. @throws {CtError} `ERR_CHALLENGE_INVALID` */
  take(challenge: string): TakenChallenge {
    const goodUntil = this.#open.get(challenge)
    this.#open.delete(challenge)
    if (goodUntil === undefined) throw unusable('it was not given out here, or was used before')
    if (this.#clock.monotonic() >= goodUntil) throw unusable(`it is older than ${CHALLENGE_LIFE_MS / 1_000} s`)
    return { bytes: Buffer.from(challenge, 'hex'), putBack: () => this.#keep(challenge, goodUntil) }
  }

  #keep(challenge: string, goodUntil: number): void {
    this.#open.set(challenge, goodUntil)
    const [oldest] = this.#open.size > MAX_CHALLENGES ? this.#open.keys() : []
    if (oldest !== undefined) this.#open.delete(oldest)
  }
}

export interface TakenChallenge {
  readonly bytes: Uint8Array
  /** Good for as long as it was before. */
  readonly putBack: () => void
}

function unusable(why: string): CtError {
  return new CtError('ERR_CHALLENGE_INVALID', `the challenge is no longer good: ${why}`)
}
