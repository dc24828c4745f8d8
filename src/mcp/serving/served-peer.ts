/**
 * The peer of a link, as what stands behind the agent sees it.
 *
 * @module
 */
import { decodeUtf8 } from '../../core/bytes.ts'
import { type CtError } from '../../core/errors.ts'
import { type HolderId, type InstanceId } from '../../core/ids.ts'
import { isJsonObject, type JsonObject } from '../../core/json.ts'
import { type Port } from '../port.ts'
import { type Params, type Response, rawNotificationText } from '../wire/envelope.ts'
import { declaredIn } from '../wire/input-required.ts'
import { type Relayed } from '../wire/relayed.ts'
import { AskedPeer } from './asked-peer.ts'
import { type Outgoing } from './outgoing.ts'
import { type ServedClient } from './upstream-link.ts'

export class ServedPeer implements ServedClient {
  readonly holder: HolderId
  readonly run: InstanceId | undefined
  readonly #outgoing: Outgoing
  readonly #asked: AskedPeer
  #abilities: JsonObject | undefined
  #declares: JsonObject | undefined

  constructor({ holder, run }: Port['peer'], outgoing: Outgoing) {
    this.holder = holder
    this.run = run
    this.#outgoing = outgoing
    this.#asked = new AskedPeer((text) => outgoing.send(text))
  }

  get capabilities(): JsonObject | undefined {
    return this.#abilities
  }

  /** It said what it can do, in the parameters of `initialize`. */
  greeted(params: Params): void {
    const abilities = isJsonObject(params) ? params['capabilities'] : undefined
    this.#abilities = isJsonObject(abilities) ? abilities : {}
  }

  get declares(): JsonObject | undefined {
    return this.#declares
  }

  /** It asked something in the newest revision. */
  asked(params: Params): void {
    this.#declares = declaredIn(params)
  }

  notify(method: string, params: string): void {
    this.#outgoing.notify(rawNotificationText(method, params))
  }

  ask(method: string, params: string, signal: AbortSignal): Promise<Relayed> {
    return this.#asked.ask(method, params, signal)
  }

  /** False when nothing of the kind was asked. @param bytes of the message; none for one of a batch */
  answered(response: Response, bytes: Uint8Array): boolean {
    return this.#asked.answered(response, bytes.length === 0 ? undefined : decodeUtf8(bytes))
  }

  end(reason: CtError): void {
    this.#asked.end(reason)
  }
}
