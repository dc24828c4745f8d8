/**
 * Calls that wait for what their host must answer first, as hosts of the newest revision are asked: in the result of the
 * call, which they send again with the answers.
 *
 * Holds: all calls here are of one host, so that whichever of them is asked in, the host is the right one. A call that waits
 * is found by an unguessable name, once, and by the same call alone. Few wait, and none for longer than a bound: then, and
 * when the host takes back the call that carries it, it is cancelled.
 *
 * @module
 */
import { randomUUID } from 'node:crypto'
import { CtError } from '../../core/errors.ts'
import { readJsonValue } from '../../core/exact-json.ts'
import { type Clock } from '../../core/time.ts'
import {
  abilitiesOf,
  abilityFor,
  type CallContext,
  InputRequired,
  type JsonObject,
  type JsonValue,
  type Relayed,
} from '../../mcp/index.ts'

/** A person may have to decide. */
export const ANSWER_LIMIT_MS = 300_000
/** Calls that wait for their host. */
export const MAX_WAITING_CALLS = 64
/** Requests that one call waits for at once. */
const MAX_ASKED_IN_CALL = 16

interface Asked {
  readonly request: JsonObject
  readonly settle: (answer: Relayed) => void
}

interface RunningCall {
  readonly label: string
  readonly abilities: JsonObject
  /** What is called, with what. */
  readonly subject: string
  readonly stop: AbortController
  readonly outcome: Promise<JsonValue>
  readonly asked: Map<string, Asked>
  /** Resolves when something is asked. */
  turn: PromiseWithResolvers<void>
  /** Where the host hears how far it is. */
  context: CallContext
  /** A request of the host waits for it. */
  isCarried: boolean
}

export interface InputRoundsOptions {
  readonly clock: Clock
  /** Folders may be asked for. */
  readonly roots: boolean
}

type Work = (context: CallContext) => Promise<JsonValue>

export class InputRounds {
  readonly #options: InputRoundsOptions
  readonly #running = new Set<RunningCall>()
  readonly #waiting = new Map<string, { readonly call: RunningCall; readonly stopWaiting: () => void }>()
  #lastName = 0

  constructor(options: InputRoundsOptions) {
    this.#options = options
  }

  /**
   * @param label of the peer that is called
   * @param tool what is called there
   * @throws {CtError} `ERR_CALL_INVALID` for answers to what was never asked; whatever the work throws
   */
  async run(label: string, tool: string, context: CallContext, work: Work): Promise<JsonValue | InputRequired> {
    const { round, argumentsText } = context
    if (round === undefined) return work(context)
    const abilities = abilitiesOf(round.declares, this.#options)
    if (round.state === undefined && Object.keys(abilities).length === 0) return work(context)
    const subject = JSON.stringify([label, tool, readJsonValue(argumentsText)])
    if (round.state === undefined) return this.#follow(this.#start({ label, abilities, subject, context }, work))
    const call = this.#resume(round.state, subject)
    call.context = context
    call.turn = Promise.withResolvers()
    for (const [name, { settle }] of [...call.asked]) {
      const answer = Object.hasOwn(round.answers, name) ? round.answers[name] : undefined
      if (answer !== undefined) settle({ resultText: JSON.stringify(answer) })
    }
    // What was not answered, or is asked since, is asked now.
    if (call.asked.size > 0) call.turn.resolve()
    return this.#follow(call)
  }

  /** Asks the host in one of its calls to the peer; nothing when there is none that it can be asked in. */
  ask(label: string, method: string, params: string, signal: AbortSignal): Promise<Relayed> | undefined {
    const ability = abilityFor(method)
    const able = [...this.#running].filter(
      (running) => running.label === label && ability !== undefined && running.abilities[ability] !== undefined,
    )
    // In one that waits already, the host would hear of it only when it is back.
    const call = able.find(({ isCarried }) => isCarried) ?? able[0]
    return call === undefined ? undefined : this.#ask(call, method, params, signal)
  }

  /** Calls run that no request of the host waits for. */
  get isWaiting(): boolean {
    return [...this.#running].some(({ isCarried }) => !isCarried)
  }

  waitsFor(state: string): boolean {
    return this.#waiting.has(state)
  }

  /** The host is gone. */
  close(reason: CtError): void {
    for (const { stop } of this.#running) stop.abort(reason)
  }

  #start(begun: Pick<RunningCall, 'label' | 'abilities' | 'subject' | 'context'>, work: Work): RunningCall {
    const { peer, callId, argumentsText, wantsProgress = false } = begun.context
    const stop = new AbortController()
    const { promise: outcome, resolve, reject } = Promise.withResolvers<JsonValue>()
    const call: RunningCall = {
      ...begun,
      stop,
      outcome,
      asked: new Map(),
      turn: Promise.withResolvers(),
      isCarried: true,
    }
    this.#running.add(call)
    // It outlives the request that began it.
    work({
      peer,
      callId,
      argumentsText,
      wantsProgress,
      signal: stop.signal,
      progress: (progress) => call.context.progress(progress),
    })
      .finally(() => this.#running.delete(call))
      .then(resolve, reject)
    // Of a call that ends while it waits for its host nobody hears before the host is back.
    outcome.catch(() => {})
    return call
  }

  /** Until there is a result, or something is asked. */
  async #follow(call: RunningCall): Promise<JsonValue | InputRequired> {
    call.isCarried = true
    const { signal } = call.context
    const abort = (): void => call.stop.abort(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    try {
      const value = await Promise.race([call.outcome, call.turn.promise.then(() => ASKED)])
      return value === ASKED ? this.#suspend(call) : (value as JsonValue)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  #suspend(call: RunningCall): InputRequired {
    if (this.#waiting.size >= MAX_WAITING_CALLS) {
      const busy = new CtError('ERR_PEER_BUSY', `at most ${MAX_WAITING_CALLS} calls may wait for answers of the host`)
      call.stop.abort(busy)
      throw busy
    }
    call.isCarried = false
    const state = randomUUID()
    const stopWaiting = this.#options.clock.after(ANSWER_LIMIT_MS, () => {
      this.#waiting.delete(state)
      call.stop.abort(new CtError('ERR_CALL_CANCELLED', `the host did not answer within ${ANSWER_LIMIT_MS / 1_000} s`))
    })
    this.#waiting.set(state, { call, stopWaiting })
    return new InputRequired(Object.fromEntries([...call.asked].map(([name, { request }]) => [name, request])), state)
  }

  #resume(state: string, subject: string): RunningCall {
    const found = this.#waiting.get(state)
    if (found?.call.subject !== subject) throw unknownRound()
    found.stopWaiting()
    this.#waiting.delete(state)
    return found.call
  }

  async #ask(call: RunningCall, method: string, params: string, signal: AbortSignal): Promise<Relayed> {
    if (call.asked.size >= MAX_ASKED_IN_CALL) {
      throw new CtError('ERR_PEER_BUSY', `at most ${MAX_ASKED_IN_CALL} requests may wait for the host in one call`)
    }
    this.#lastName += 1
    const name = `ask-${this.#lastName}`
    const { promise, resolve, reject } = Promise.withResolvers<Relayed>()
    const giveUp = (reason: unknown): void => {
      call.asked.delete(name)
      reject(reason)
    }
    const abort = (): void => giveUp(signal.reason)
    const abortCall = (): void => giveUp(call.stop.signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    call.stop.signal.addEventListener('abort', abortCall, { once: true })
    const settle = (answer: Relayed): void => {
      call.asked.delete(name)
      resolve(answer)
    }
    call.asked.set(name, { request: { method, params: readJsonValue(params) }, settle })
    call.turn.resolve()
    try {
      return await promise
    } finally {
      signal.removeEventListener('abort', abort)
      call.stop.signal.removeEventListener('abort', abortCall)
    }
  }
}

const ASKED = Symbol('asked')

/** Also thrown where the answers are for another call, of which nothing is said. */
export function unknownRound(): CtError {
  return new CtError(
    'ERR_CALL_INVALID',
    'no such call waits for answers here: `requestState` is not known, or not any more',
  )
}
