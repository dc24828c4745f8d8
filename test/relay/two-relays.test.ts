import { expect, it, onTestFinished } from 'vitest'
import { SLOW, Stage } from '../e2e/stage.ts'
import { newDatabase, Person } from './harness.ts'

const INVOCATIONS = 150
const KILLED_AFTER = 50
const WORKERS = 3
const LEASE_SECS = 5
const MAX_TRIES = 200

it('no invocation is lost or answered twice when one of two relays is killed in the midst', SLOW, async ({ skip }) => {
  const location = await newDatabase()
  if (location.kind === 'file') return skip('a file serves one relay')
  const stage = new Stage()
  onTestFinished(() => stage.close())
  const env = (name: string) => ({
    CT_AGENT_STATE_DIR: stage.path(name),
    CT_RELAY_DATABASE_URL: location.kind === 'postgres' ? location.url : '',
  })
  const relays = ['one', 'two'].map((name) => stage.start(['relay', '--addr', '127.0.0.1:0'], { env: env(name) }))
  const urls = await Promise.all(relays.map((relay) => relay.line()))
  const person = async (slug: string) => {
    const words = ['relay', 'admin', 'create-user', `${slug}@example.org`, '--slug', slug, '--api-key', '--json']
    const made = JSON.parse((await stage.finish(words, { env: env('one') })).stdout)
    return urls.map((url) => new Person(url, made.api_key, made.id, made.account_id))
  }
  const [bob, eve] = [await person('bob'), await person('eve')]
  const server = await bob[0]?.agent('hall')
  const caller = await eve[0]?.agent('planner')
  const agents = { granter_agent_id: server, grantee_agent_id: caller }
  const published = await bob[1]?.post(`/v1/agents/${server}/capabilities`, { name: 'is_free' })
  const proposed = await eve[0]?.post('/v1/friendships', { proposer_agent_id: caller, target_agent_id: server })
  await bob[1]?.post(`/v1/friendships/${proposed?.body.id}/accept`)
  const granted = await bob[0]?.post('/v1/grants', { ...agents, capability_id: published?.body.id })

  let turn = 0
  /** At one relay or the other, until one of them answers. */
  const ask = async (who: readonly Person[], work: (at: Person) => ReturnType<Person['get']>) => {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      turn += 1
      const at = who[turn % who.length]
      const answer = at === undefined ? undefined : await work(at).catch(() => undefined)
      if (answer !== undefined && answer.status < 500) return answer
    }
    throw new Error('expected an answer of one of the relays')
  }
  const answered = new Set<string>()
  const worker = async () => {
    while (answered.size < INVOCATIONS) {
      const pull = `/v1/inbox?agent_id=${server}&limit=4&wait_seconds=1&lease_seconds=${LEASE_SECS}`
      for (const { id, lease_id, input } of (await ask(bob, (at) => at.get(pull))).body) {
        const result = { status: 'succeeded', output: input, lease_id }
        const { status, body } = await ask(bob, (at) => at.post(`/v1/invocations/${id}/result`, result))
        // An answer whose own answer was lost was taken: it is found to be over.
        if (status === 200 || body.error.code === 'conflict') answered.add(id)
        if (answered.size === KILLED_AFTER) relays[0]?.signal('SIGKILL')
      }
    }
  }
  const workers = Array.from({ length: WORKERS }, worker)
  const ids = []
  for (let index = 0; index < INVOCATIONS; index += 1) {
    const wish = { grant_id: granted?.body.id, input: { index }, idempotency_key: `wish-${index}` }
    ids.push((await ask(eve, (at) => at.post('/v1/invoke', wish))).body.invocation_id)
  }
  await Promise.all(workers)
  expect((await relays[0]?.exit)?.signal).toBe('SIGKILL')
  expect(new Set(ids).size).toBe(INVOCATIONS)
  for (const [index, id] of ids.entries()) {
    const { body } = await ask(eve, (at) => at.get(`/v1/invocations/${id}`))
    expect([body.status, body.output]).toEqual(['succeeded', { index }])
  }
  expect([...answered].sort()).toEqual([...ids].sort())
})
