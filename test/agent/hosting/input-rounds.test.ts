import { describe, expect, it } from 'vitest'
import { ANSWER_LIMIT_MS, InputRounds, MAX_WAITING_CALLS } from '../../../src/agent/hosting/input-rounds.ts'
import { CtError } from '../../../src/core/errors.ts'
import { type JsonObject, type JsonValue } from '../../../src/core/json.ts'
import { LOCAL_HOST } from '../../../src/mcp/adapter/line-port.ts'
import { type CallContext, InputRequired } from '../../../src/mcp/index.ts'
import { FakeClock } from '../../mcp/fake-clock.ts'

const ELICITATION: JsonObject = { elicitation: {} }
const PARAMS = '{"message":"who?","count":9007199254740993}'

interface Round {
  readonly state?: string | undefined
  readonly answers?: JsonObject
  readonly declares?: JsonObject
  readonly args?: string
  readonly signal?: AbortSignal
}

/** One host, one peer whose tool asks and answers with what it was answered. */
class Scene {
  readonly clock = new FakeClock()
  readonly rounds = new InputRounds({ clock: this.clock, roots: false })
  readonly withdrawal = new AbortController()
  /** Of each call, why it was stopped. */
  readonly stopped: unknown[] = []

  call({ state, answers = {}, declares = ELICITATION, args = '{"n":1}', signal }: Round = {}) {
    const context: CallContext = {
      peer: LOCAL_HOST,
      callId: 'call',
      signal: signal ?? new AbortController().signal,
      argumentsText: args,
      progress: () => {},
      round: { declares, state, answers },
    }
    return this.rounds.run('bob', 'greet', context, (one) => this.#greet(one))
  }

  /** The call up to where it must be answered. */
  async asked(round: Round = {}): Promise<InputRequired> {
    const answer = await this.call(round)
    if (!(answer instanceof InputRequired)) throw new TypeError('expected a question')
    return answer
  }

  ask(method = 'elicitation/create') {
    return this.rounds.ask('bob', method, PARAMS, this.withdrawal.signal)
  }

  async #greet({ signal }: CallContext): Promise<JsonValue> {
    signal.addEventListener('abort', () => this.stopped.push(signal.reason))
    const answer = await this.ask()
    if (answer === undefined) return { asked: false }
    return 'error' in answer ? { error: answer.error.message } : { answer: answer.resultText }
  }
}

const ONLY = ({ requests }: InputRequired): string => Object.keys(requests)[0] ?? ''

describe('a call that asks its host', () => {
  it('says in its result what it asks, and ends when it is sent again with the answer', async () => {
    const scene = new Scene()
    const question = await scene.asked()
    expect(Object.values(question.requests)).toMatchObject([{ method: 'elicitation/create' }])
    expect(JSON.stringify(question.requests)).toContain('9007199254740993')
    const answers = { [ONLY(question)]: { action: 'accept' } }
    expect(await scene.call({ state: question.state, answers })).toEqual({ answer: '{"action":"accept"}' })
    expect(scene.stopped).toEqual([])
  })

  it('asks again what was not answered', async () => {
    const scene = new Scene()
    const first = await scene.asked()
    const second = await scene.asked({ state: first.state, answers: { other: {} } })
    expect(second.requests).toEqual(first.requests)
    expect(second.state).not.toBe(first.state)
  })

  for (const { name, round } of [
    { name: 'a state that nobody gave', round: () => ({ state: 'made up' }) },
    { name: 'the state of a call with other arguments', round: (state: string) => ({ state, args: '{"n":2}' }) },
  ]) {
    it(`refuses ${name}, and goes on waiting`, async () => {
      const scene = new Scene()
      const question = await scene.asked()
      const answers = { [ONLY(question)]: {} }
      await expect(scene.call({ answers, ...round(question.state) })).rejects.toMatchObject({
        code: 'ERR_CALL_INVALID',
      })
      expect(await scene.call({ state: question.state, answers })).toEqual({ answer: '{}' })
    })
  }

  it('takes a state once', async () => {
    const scene = new Scene()
    const question = await scene.asked()
    const round = { state: question.state, answers: { [ONLY(question)]: {} } }
    await scene.call(round)
    await expect(scene.call(round)).rejects.toMatchObject({ code: 'ERR_CALL_INVALID' })
  })

  it('is cancelled when the host does not answer in time, and not before', async () => {
    const scene = new Scene()
    const { state } = await scene.asked()
    scene.clock.advance(ANSWER_LIMIT_MS - 1)
    expect(scene.stopped).toEqual([])
    scene.clock.advance(1)
    expect(scene.stopped).toMatchObject([{ code: 'ERR_CALL_CANCELLED' }])
    await expect(scene.call({ state })).rejects.toMatchObject({ code: 'ERR_CALL_INVALID' })
  })

  it('is cancelled with the request that carries it, and waits on when one is that was answered', async () => {
    const scene = new Scene()
    const answered = new AbortController()
    const { state } = await scene.asked({ signal: answered.signal })
    answered.abort(new CtError('ERR_CALL_CANCELLED', 'too late'))
    expect(scene.stopped).toEqual([])
    const carrying = AbortSignal.abort(new CtError('ERR_CALL_CANCELLED', 'the host went away'))
    await scene.call({ state, signal: carrying }).catch(() => {})
    expect(scene.stopped).toMatchObject([{ message: 'the host went away' }])
  })

  it('asks nothing more of what the server takes back', async () => {
    const scene = new Scene()
    const { state } = await scene.asked()
    scene.withdrawal.abort(new CtError('ERR_CALL_CANCELLED', 'taken back'))
    await expect(scene.call({ state })).rejects.toMatchObject({ message: 'taken back' })
  })

  it('waits with a bounded number of others', async () => {
    const scene = new Scene()
    for (let index = 0; index < MAX_WAITING_CALLS; index += 1) await scene.asked()
    await expect(scene.call()).rejects.toMatchObject({ code: 'ERR_PEER_BUSY' })
  })

  it('ends with its host', async () => {
    const scene = new Scene()
    await scene.asked()
    scene.rounds.close(new CtError('ERR_CALL_CANCELLED', 'the host is gone'))
    expect(scene.stopped).toMatchObject([{ message: 'the host is gone' }])
  })
})

describe('a server that asks', () => {
  for (const { name, declares, method } of [
    { name: 'a host that declared nothing', declares: {}, method: 'elicitation/create' },
    { name: 'for what the host did not declare', declares: ELICITATION, method: 'sampling/createMessage' },
    { name: 'for folders, which the user did not allow', declares: { roots: {} }, method: 'roots/list' },
    { name: 'for what no host is asked', declares: ELICITATION, method: 'tools/call' },
  ]) {
    it(`reaches nobody when it asks ${name}`, async () => {
      const scene = new Scene()
      const running = scene.call({ declares })
      expect(scene.ask(method)).toBeUndefined()
      scene.rounds.close(new CtError('ERR_CALL_CANCELLED', 'the host is gone'))
      await running.catch(() => {})
    })
  }

  it('reaches nobody in a call to another peer', async () => {
    const scene = new Scene()
    await scene.asked()
    expect(scene.rounds.ask('eve', 'elicitation/create', PARAMS, scene.withdrawal.signal)).toBeUndefined()
  })
})
