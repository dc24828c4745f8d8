/**
 * Tells people on stderr what happens at the broker: that this side waits, why it does not get on, and which way a
 * session took.
 *
 * Holds: what lasts is told once, not once for every attempt.
 *
 * @module
 */
import { type BrokerState, formatAddress, type RelayState } from '../../channel/index.ts'
import { type CtError } from '../../core/errors.ts'
import { shortId } from '../../core/ids.ts'
import { type Io, notice } from '../io.ts'
import { CLEAR_LINE } from '../progress.ts'
import { type ChannelConfig } from './channel-side.ts'

/** Hints that a broker may show; it could make up new ones for ever. */
const MAX_HINTS = 16

/** A WebSocket on the way there. */
const THROUGH_FRONT_DOOR = /\/wss?\b/

export class BrokerNotices {
  readonly #io: Io
  readonly #role: ChannelConfig['role']
  readonly #label: string
  readonly #hints = new Set<string>()
  /** What was told last of each kind, so that it is not told again. */
  readonly #told = new Map<string, string>()

  /** @param label begins every line */
  constructor(io: Io, role: ChannelConfig['role'], label = 'ct-agent channel') {
    this.#io = io
    this.#role = role
    this.#label = label
  }

  tell(state: BrokerState | RelayState): void {
    switch (state.kind) {
      case 'joined':
        if (this.#changes('broker', 'joined')) this.#say(this.#waiting(formatAddress(state.observed)))
        return
      case 'trouble':
        // Whoever has to join again needs a new place at the relay as well.
        this.#told.delete('relay')
        this.#trouble('broker', 'the broker', state.reason)
        return
      case 'reserved':
        if (this.#changes('relay', 'reserved')) this.#say('reachable through the relay')
        return
      case 'not-reserved':
        this.#trouble('relay', 'the relay', state.reason)
        return
      case 'expired':
        if (this.#changes('expired', 'yes')) this.#say('nobody came within the time of the broker; waiting on')
        return
      case 'hint':
        if (this.#hints.has(state.text) || this.#hints.size >= MAX_HINTS) return
        this.#hints.add(state.text)
        this.#say(`the broker says: ${state.text}`)
        return
      case 'way': {
        // When this session is over, the next wait is worth telling again.
        for (const topic of ['expired', 'broker']) this.#told.delete(topic)
        const relay = THROUGH_FRONT_DOOR.test(state.where) ? 'the relay, by the front door' : 'the relay'
        const way = state.way !== 'relay' ? `directly (${state.where})` : `through ${relay} (${state.where})`
        if (this.#changes('way', `${state.peer} ${way}`)) this.#say(`session with ${shortId(state.peer)}… goes ${way}`)
      }
    }
  }

  #waiting(observed: string): string {
    const whom = this.#role === 'accept' ? 'callers' : 'a peer that accepts'
    return `joined at the broker, which sees this side at ${observed}; waiting for ${whom}`
  }

  #trouble(topic: string, who: string, { code, message }: CtError): void {
    if (this.#changes(topic, code)) this.#say(`${who} is not available, trying again (${code}: ${message})`)
  }

  #changes(topic: string, now: string): boolean {
    if (this.#told.get(topic) === now) return false
    this.#told.set(topic, now)
    return true
  }

  #say(text: string): void {
    // The progress of a long wait may stand there.
    if (this.#io.stderr.isTTY === true) this.#io.stderr.write(CLEAR_LINE)
    notice(this.#io, `${this.#label}: ${text}`)
  }
}
