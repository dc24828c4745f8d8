/**
 * A guest of a reception, for tests.
 *
 * @module
 */
import { CHALLENGE_METHOD, REDEEM_METHOD } from '../../../src/agent/members/membership-document.ts'
import { type Reception } from '../../../src/agent/members/reception.ts'
import { REDEMPTION } from '../../../src/channel/membership/index.ts'
import { redemptionOf } from '../../../src/channel/membership/invitation.ts'
import { seal } from '../../../src/core/artefact.ts'
import { type HolderId } from '../../../src/core/ids.ts'
import { isJsonObject, type JsonValue } from '../../../src/core/json.ts'
import { holderKey } from '../../../src/core/keys.ts'
import { type Invited, someone } from './rosters.ts'

/** The side of a guest: asks on a link, as whoever the link says it is. */
export class Guest {
  readonly holder: HolderId
  readonly left: string[] = []
  readonly made: Invited
  readonly #methods

  constructor(reception: Reception, made: Invited, holder = someone()) {
    this.made = made
    this.holder = holder
    const standing = { kind: 'guest', invitee: made.record.invitee } as const
    this.#methods = reception.welcome(standing, 'rw', ({ code }) => this.left.push(code)).methods
  }

  ask(method: string, params: { readonly [key: string]: JsonValue } = {}): JsonValue {
    const answer = this.#methods.get(method)
    if (answer === undefined) throw new TypeError(`no method ${method}`)
    const context = { peer: this.holder, callId: '', signal: new AbortController().signal, progress: () => {} }
    return answer(params, { ...context, argumentsText: '{}', paramsText: '{}' }) as JsonValue
  }

  challenge(): string {
    const answer = this.ask(CHALLENGE_METHOD)
    return isJsonObject(answer) ? String(answer['challenge']) : ''
  }

  sign(challenge: string, { holder = this.holder, seed = this.made.seed } = {}): string {
    const body = redemptionOf(this.made.record.sealed, holder, Buffer.from(challenge, 'hex'))
    return seal(REDEMPTION, { ...body, invitee: holderKey(seed).id }, seed).signature
  }

  redeem(challenge = this.challenge(), signature = this.sign(challenge), name = 'bob'): JsonValue {
    return this.ask(REDEEM_METHOD, { challenge, signature, name })
  }
}
