import { spawn } from 'node:child_process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { children, group, until, untilGone } from '../services/processes.ts'
import { type Link, type Wrapped, wrap } from './wrapped.ts'

const ALICE = { sampling: {} }

function started({ lines }: Wrapped): number {
  return lines.filter(({ event }) => event === 'server.started').length
}

/** What the server asks of the link's peer. */
async function asked(link: Link, method: string): Promise<{ id: string; params: unknown }> {
  const found = (): string | undefined => link.texts.find((text) => text.includes(`"method":"${method}"`))
  await until(`to be asked ${method}`, () => found() !== undefined)
  return JSON.parse(found() ?? '') as { id: string; params: unknown }
}

describe('a wrapped server that ends', () => {
  it('in the middle of a call leaves it unknown what became of it, and is started again', async () => {
    const wrapped = await wrap()
    const link = wrapped.link()
    const [crashed, hung] = await Promise.all([link.call('crash'), link.call('hang')])
    for (const answer of [crashed, hung]) {
      expect(JSON.parse(answer).error).toMatchObject({
        message: expect.stringContaining('may have run, then: the MCP server ended with status 7'),
        data: { code: 'ERR_CALL_OUTCOME_UNKNOWN' },
      })
    }
    expect(await link.call('noise')).toContain('"content"')
    expect(started(wrapped)).toBe(2)
  })

  it('again and again is not started at once any more, and says so', async () => {
    const link = (await wrap()).link()
    for (let crash = 0; crash < 3; crash += 1) await link.call('crash')
    expect(JSON.parse(await link.call('noise')).error).toMatchObject({
      message: expect.stringMatching(/^the MCP server ended with status 7; it is started again in \d+ s$/),
      data: { code: 'ERR_SERVER_UNAVAILABLE', retryable: true },
    })
    expect(await link.names()).toContain('noise')
  })

  it('is asked again for what peers subscribed to', async () => {
    const wrapped = await wrap()
    const link = wrapped.link()
    await link.initialize()
    await link.ask('resources/subscribe', { uri: 'a' })
    await link.ask('resources/subscribe', { uri: 'b' })
    await link.ask('resources/unsubscribe', { uri: 'b' })
    await link.ask('logging/setLevel', { level: 'debug' })
    await link.call('crash')
    await link.call('noise')
    const heard = wrapped.lines.map(({ facts }) => String(facts['line']))
    const again = heard.slice(heard.findLastIndex((line) => line.includes('"initialize"')))
    expect(again.filter((line) => line.includes('subscribe'))).toEqual([expect.stringContaining('"uri":"a"')])
    expect(again.filter((line) => line.includes('setLevel'))).toHaveLength(1)
  })
})

describe('processes of a wrapped server', () => {
  it('are all gone after the agent has closed it', async () => {
    const { upstream, link } = await wrap()
    const one = link()
    await one.initialize(ALICE)
    await one.call('noise')
    const running = children().flatMap(group)
    expect(running.length).toBeGreaterThan(0)
    await upstream.close()
    await untilGone(running)
    expect(JSON.parse(await one.call('noise')).result).toMatchObject({
      isError: true,
      structuredContent: { code: 'ERR_SERVER_UNAVAILABLE' },
    })
  })

  it('end when they do not heed the end of their input', async () => {
    const { upstream } = await wrap({
      command: `trap '' TERM; ${process.execPath} --no-warnings ${oddPath()}; sleep 600`,
    })
    const running = children().flatMap(group)
    await upstream.close()
    await untilGone(running)
  })

  it('are those of the peer: another one has its own', async () => {
    const wrapped = await wrap()
    const [one, other] = [wrapped.link(), wrapped.link()]
    await one.initialize()
    await other.initialize(ALICE)
    await Promise.all([one.call('noise'), other.call('noise')])
    expect(started(wrapped)).toBe(2)
  })

  it('are one for all where they share it', async () => {
    const wrapped = await wrap({ mode: 'shared' })
    const [one, other] = [wrapped.link(), wrapped.link()]
    await one.initialize()
    await other.initialize(ALICE)
    await Promise.all([one.call('noise'), other.call('noise')])
    expect(started(wrapped)).toBe(1)
  })

  it('are no more than allowed: one that nobody uses gives way, one that is used does not', async () => {
    const wrapped = await wrap({ most: 1 })
    const one = wrapped.link()
    await one.initialize(ALICE)
    expect(await one.call('noise')).toContain('"content"')
    const other = wrapped.link()
    await other.initialize({ elicitation: {} })
    expect(await other.call('noise')).toContain('ERR_PEER_BUSY')
    expect(await other.names()).toContain('noise')
    one.served.pair.cut()
    await until('the place', () => one.served.link.inFlight === 0)
    expect(await other.call('noise')).toContain('"content"')
  })
})

function oddPath(): string {
  return new URL('../../fixtures/servers/odd.ts', import.meta.url).pathname
}

describe('what a wrapped server asks', () => {
  it('goes to the peer that can do it, and the answer back', async () => {
    const link = (await wrap()).link()
    await link.initialize(ALICE)
    const called = link.call('ask')
    const { id } = await asked(link, 'sampling/createMessage')
    expect(link.told.join()).toContain('"n":9007199254740993')
    link.say(`{"jsonrpc":"2.0","id":"${id}","result":{"big":9007199254740993}}`)
    // The fixture reads it as a number, as most servers do.
    expect(JSON.parse(await called).result).toEqual({ content: [], result: { big: 9007199254740992 } })
  })

  it('is refused by the agent when the peer declared nothing', async () => {
    const link = (await wrap()).link()
    await link.initialize()
    expect(JSON.parse(await link.call('ask')).result.error).toMatchObject({ code: -32601 })
    expect(link.told).toEqual([])
  })

  it('never is where the peer works, unless the operator allows it', async () => {
    const closed = (await wrap()).link()
    await closed.initialize({ roots: {} })
    expect(JSON.parse(await closed.call('roots')).result.error).toMatchObject({ code: -32601 })
    const open = (await wrap({ roots: true })).link()
    await open.initialize({ roots: {} })
    const called = open.call('roots')
    const { id } = await asked(open, 'roots/list')
    open.say(`{"jsonrpc":"2.0","id":"${id}","error":{"code":-1,"message":"no"}}`)
    expect(JSON.parse(await called).result.error).toEqual({ code: -1, message: 'no' })
  })

  it('reaches nobody where peers share it', async () => {
    const link = (await wrap({ mode: 'shared' })).link()
    await link.initialize(ALICE)
    expect(JSON.parse(await link.call('ask')).result.error).toMatchObject({ code: -32601 })
  })
})

describe('what a wrapped server tells', () => {
  it('goes to who wants it', async () => {
    const link = (await wrap()).link()
    await link.initialize()
    for (const uri of ['a', 'dir']) await link.ask('resources/subscribe', { uri })
    await link.call('grow')
    await until('the list to change', () => link.told.some((text) => text.includes('tools/list_changed')))
    const told = link.told.map((text) => JSON.parse(text) as { method: string; params: { uri?: string } })
    expect(
      told.map(({ method, params }) => `${method.replace('notifications/', '')} ${params.uri ?? ''}`).sort(),
    ).toEqual([
      'message ',
      'prompts/list_changed ',
      'resources/list_changed ',
      'resources/updated a',
      'resources/updated dir/part',
      'tools/list_changed ',
    ])
    expect(link.told.join()).toContain('{"n":9007199254740993}')
  })

  it('does not reach who has not said hello, nor the log of one peer all who share it', async () => {
    const wrapped = await wrap({ mode: 'shared' })
    const [one, other] = [wrapped.link(), wrapped.link()]
    await one.initialize()
    await Promise.all([one.names(), other.names()])
    await other.call('grow')
    await until('the list to change', () => one.told.some((text) => text.includes('tools/list_changed')))
    expect(one.told.join()).not.toContain('notifications/message')
    expect(other.told).toEqual([])
  })
})

it('ends with an agent that is killed', async () => {
  const script = new URL('../../fixtures/servers/agent.ts', import.meta.url).pathname
  const agent = spawn(process.execPath, ['--no-warnings', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void agent.kill('SIGKILL'))
  let said = ''
  agent.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()))
  await until('a server', () => said === 'ready')
  const pids = children(agent.pid).flatMap(group)
  expect(pids.length).toBeGreaterThanOrEqual(3)
  agent.kill('SIGKILL')
  await untilGone(pids)
})
