import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agent } from '../e2e/agent.ts'
import { Stage } from '../e2e/stage.ts'
import { type Host, Network } from './network.ts'
import { type SiteKind } from './routers.ts'

const problem = Network.problem()
if (problem !== undefined) process.stderr.write(`skipped: tests of members behind routers (${problem})\n`)

type End = SiteKind | 'public'
type Rung = 'direct' | 'punched' | 'relay' | 'front-door'

/** Who serves, who calls, the way on which they meet, and the way on which they go on. */
const PAIRS: readonly (readonly [End, End, Rung, Rung])[] = [
  ['port-restricted', 'port-restricted', 'relay', 'punched'],
  ['full-cone', 'symmetric', 'relay', 'punched'],
  ['udp-blocked', 'port-restricted', 'relay', 'punched'],
  ['symmetric', 'public', 'relay', 'punched'],
  ['ipv6', 'ipv6', 'relay', 'punched'],
  ['public', 'symmetric', 'direct', 'direct'],
  // Nobody can know which port comes next, or there is no common family, or no way out but one.
  ['symmetric', 'symmetric', 'relay', 'relay'],
  ['port-restricted', 'symmetric', 'relay', 'relay'],
  ['ipv6', 'port-restricted', 'relay', 'relay'],
  ['port-restricted', 'only-443', 'front-door', 'front-door'],
]

let network: Network | undefined
let stage: Stage | undefined
let broker = ''
let pairs = 0

beforeAll(async () => {
  if (problem !== undefined) return
  network = new Network()
  stage = new Stage()
  const listen = { CT_BROKER_LISTEN: '0.0.0.0:4435,[::]:4435', CT_BROKER_WS_LISTEN: '0.0.0.0:443' }
  const env = { CT_AGENT_STATE_DIR: stage.path('broker'), ...listen }
  broker = await stage.start(['broker'], { command: network.broker, env }).line()
})

afterAll(async () => {
  network?.close()
  await stage?.close()
})

/** A call that is under way, and what lets its handler answer. */
async function callBetween(server: Host, caller: Host, places: string): Promise<{ call: Agent; answer: () => void }> {
  const here = stage
  if (here === undefined) throw new Error('expected a stage')
  pairs += 1
  const name = `pair-${pairs}`
  const answers = here.path(`${name}-answers`)
  const env = (end: string) => ({ CT_AGENT_STATE_DIR: here.path(`${name}-${end}`), CT_LOG_LEVEL: 'info' })
  const handler = ['--handler', `while [ ! -e ${answers} ]; do sleep 0.05; done; cat`, '--services', 'echo']
  const serving = here.start(['serve', '--broker', places, ...handler], {
    command: server.command,
    env: env('server'),
  })
  const ticket = await serving.line()
  await serving.says(/reachable through the relay/)
  const args = ['call', ticket, 'service/echo', '{"input":"through"}']
  const call = here.start(args, { command: caller.command, env: env('caller') })
  return { call, answer: () => here.touch(answers) }
}

async function takes(call: Agent, rung: Rung): Promise<void> {
  await call.says(new RegExp(`"rung":"${rung}".*"event":"channel.way"`))
}

async function isAnswered({ call, answer }: { call: Agent; answer: () => void }): Promise<void> {
  answer()
  expect([(await call.exit).status, call.stdout]).toEqual([0, 'through\n'])
}

function machine(end: End): Host {
  const [host] = end === 'public' ? [network?.publicHost()] : (network?.site(end) ?? [])
  if (host === undefined) throw new Error('expected a network')
  return host
}

describe.skipIf(problem !== undefined).concurrent('members of two networks', { timeout: 60_000 }, () => {
  it.each(PAIRS)('meet where %s serves and %s calls: by %s, then %s', async (one, other, first, last) => {
    const only443 = one === 'only-443' || other === 'only-443'
    const places = broker.split(',').filter((place) => only443 || !place.includes('/ws'))
    const under = await callBetween(machine(one), machine(other), places.join(','))
    await takes(under.call, first)
    if (first !== last) await takes(under.call, last)
    else if (last !== 'direct') await under.call.says(/"event":"channel.not_direct"/)
    await isAnswered(under)
  })
})

describe.skipIf(problem !== undefined)('members that met through a hole', { timeout: 60_000 }, () => {
  it('go on through the relay when nothing gets through any more, and lose no call', async () => {
    const [server, caller] = [machine('port-restricted'), machine('port-restricted')]
    const under = await callBetween(server, caller, broker.split(',')[0] ?? '')
    await takes(under.call, 'punched')
    network?.cut(server, caller)
    const since = performance.now()
    await under.call.says(/"rung":"punched".*"rung":"relay"/s)
    // Sooner than silence alone would end the session.
    expect(performance.now() - since).toBeLessThan(3_000)
    await isAnswered(under)
  })
})

describe.skipIf(problem !== undefined)('members of one network', { timeout: 60_000 }, () => {
  it('meet by the relay of a public broker, and go on within their own network', async () => {
    const [server, caller] = network?.site('symmetric', 2) ?? []
    if (server === undefined || caller === undefined) throw new Error('expected a network')
    const under = await callBetween(server, caller, broker.split(',')[0] ?? '')
    await takes(under.call, 'relay')
    await takes(under.call, 'direct')
    expect(under.call.stderr).toMatch(new RegExp(`"rung":"direct","where":"${server.address}:`))
    await isAnswered(under)
  })
})
