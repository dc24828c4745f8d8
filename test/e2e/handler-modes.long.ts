import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect } from 'vitest'
import { type Env } from '../../src/core/env.ts'
import { fixture, isRunning, until, untilGone } from '../mcp/services/processes.ts'
import { type Agent } from './agent.ts'
import { it, SLOW, type Stage, stateOf } from './stage.ts'

const WEATHER = JSON.stringify({
  description: 'Tells the weather of a city',
  input: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  output: { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] },
})

/** A served handler, and calls to it. */
async function serve(stage: Stage, env: Env) {
  const agent = stage.start(['serve', '--listen', '127.0.0.1:0'], {
    env: stateOf(stage, 'server', { CT_AGENT_SERVICES: 'weather', ...env }),
  })
  const ticket = await agent.line()
  const ask = (...args: readonly string[]) =>
    stage.finish(args, { env: stateOf(stage, 'caller', { CT_TICKET: ticket }) })
  return { agent, ask, call: (...args: readonly string[]) => ask('call', 'service/weather', ...args) }
}

function schemaFile(stage: Stage): Env {
  writeFileSync(stage.path('weather.json'), WEATHER)
  return { CT_AGENT_SERVICE_WEATHER_SCHEMA: stage.path('weather.json') }
}

async function pidsOf(stage: Stage, file: string): Promise<readonly number[]> {
  await until('pids', () => readPids(file).length === 2)
  const pids = readPids(file)
  stage.onClose(() => {
    for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL')
  })
  return pids
}

function readPids(file: string): readonly number[] {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').map(Number)
  } catch {
    return []
  }
}

async function statusOf(agent: Agent): Promise<number | null> {
  return (await agent.exit).status
}

describe.concurrent('a handler with a schema', SLOW, () => {
  it('in mode spawn gets a document, says its progress, and is listed with its schemas', async ({ stage }) => {
    const command = `read -r line; echo "ct-progress: {\\"progress\\":1,\\"message\\":\\"asking\\"}" >&2; echo "{\\"celsius\\":\${#line}}"`
    const { ask, call } = await serve(stage, { ...schemaFile(stage), CT_AGENT_SERVICE_HANDLER_CMD: command })
    const listed = await ask('tools', '--json')
    const { description, input, output } = JSON.parse(WEATHER) as Readonly<Record<string, unknown>>
    expect(JSON.parse(listed.stdout)).toContainEqual({
      ...{ name: 'service/weather', description },
      ...{ inputSchema: input, outputSchema: output },
    })
    const good = await call('--arg', 'city=Ulm', '--progress')
    expect(JSON.parse(good.stdout)).toEqual({ celsius: 14 })
    expect(good.stderr).toContain('asking')
    const bad = await call('--arg', 'city:=1')
    expect(bad.status).toBe(4)
    expect(bad.stderr).toMatch(/the arguments do not fit the service: at \/city expected a string, found 1/)
    expect(bad.stderr).toContain('ERR_CALL_INVALID')
  })

  it('that is malformed is refused at start, by file and place', async ({ stage }) => {
    writeFileSync(stage.path('bad.json'), WEATHER.replace('"number"', '"numbre"'))
    const { status, stdout, stderr } = await stage.finish(['serve', '--listen', '127.0.0.1:0'], {
      env: stateOf(stage, 'server', {
        CT_AGENT_SERVICES: 'weather',
        CT_AGENT_SERVICE_HANDLER_CMD: 'cat',
        CT_AGENT_SERVICE_WEATHER_SCHEMA: stage.path('bad.json'),
      }),
    })
    expect([status, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(
      /CT_AGENT_SERVICE_WEATHER_SCHEMA invalid: ".*bad\.json" at \/output\/properties\/celsius\/type/,
    )
    expect(stderr).not.toContain('unknown variable')
  })

  it('in mode http is asked over HTTP', async ({ stage }) => {
    const server = createServer((request, response) => {
      void text(request).then((body) => {
        const { input } = JSON.parse(body) as { input: { city: string } }
        response.end(JSON.stringify({ output: { celsius: input.city.length } }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    stage.onClose(() => void server.close())
    const { port } = server.address() as AddressInfo
    const { call } = await serve(stage, {
      ...schemaFile(stage),
      CT_AGENT_SERVICE_HANDLER_MODE: 'http',
      CT_AGENT_SERVICE_HANDLER_URL: `http://127.0.0.1:${port}/`,
    })
    expect(JSON.parse((await call('--arg', 'city=Köln')).stdout)).toEqual({ celsius: 4 })
  })
})

describe.concurrent('workers', SLOW, () => {
  const workers = (file: string, ...more: readonly string[]): Env => ({
    CT_AGENT_SERVICE_HANDLER_MODE: 'worker',
    CT_AGENT_SERVICE_WORKERS: '1',
    CT_AGENT_SERVICE_HANDLER_CMD: ['exec', process.execPath, fixture('worker.ts'), file, ...more].join(' '),
  })

  it('answer, report progress, live from call to call, and end with the agent', async ({ stage }) => {
    const { agent, call } = await serve(stage, workers(stage.path('pids')))
    const pids = await pidsOf(stage, stage.path('pids'))
    const first = await call('--arg', 'input=pid')
    expect(first.stdout.trim()).toBe(String(pids[0]))
    const second = await call('--arg', 'input=progress', '--progress')
    expect(second.stderr).toMatch(/50 % half/)
    expect((await call('--arg', 'input=pid')).stdout).toBe(first.stdout)
    agent.signal('SIGTERM')
    expect(await statusOf(agent)).toBe(0)
    await untilGone(pids)
  })

  it('end with an agent that is killed, deaf to TERM or not', async ({ stage }) => {
    const { agent } = await serve(stage, workers(stage.path('pids'), 'deaf'))
    const pids = await pidsOf(stage, stage.path('pids'))
    agent.signal('SIGKILL')
    await untilGone(pids)
  })
})
