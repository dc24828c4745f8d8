import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { askAgents } from '../../../src/agent/observing/status-client.ts'
import { answerStatus, type StatusServer } from '../../../src/agent/observing/status-server.ts'
import { generateInstanceId } from '../../../src/core/keys.ts'

let folder = ''
const servers: StatusServer[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ct-status-'))
})

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  rmSync(folder, { recursive: true, force: true })
})

async function serve(answer: () => Promise<string>, where = folder): Promise<string> {
  servers.push(await answerStatus(where, generateInstanceId(), answer))
  return join(where, 'run', readdirSync(join(where, 'run'))[0] ?? '')
}

/** What the agent says to these bytes until it ends the connection. */
function say(socket: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let said = ''
    const connection = connect({ path: socket }, () => connection.write(bytes))
    connection.setEncoding('utf8')
    connection.on('data', (text: string) => {
      said += text
    })
    connection.on('error', () => {})
    connection.on('close', () => resolve(said))
  })
}

const HELLO = (): Promise<string> => Promise.resolve('{"command":"serve"}')

describe('the socket of an agent', () => {
  it('answers several agents of one folder, and none when there is none', async () => {
    expect(await askAgents(folder)).toEqual({ agents: [], silent: 0 })
    await serve(HELLO)
    await serve(() => Promise.resolve('{"command":"broker"}'))
    const { agents, silent } = await askAgents(folder)
    expect(agents.map(({ command }) => command).sort()).toEqual(['broker', 'serve'])
    expect(silent).toBe(0)
  })

  it('counts agents that answer nonsense or nothing', async () => {
    await serve(() => Promise.resolve('nonsense'))
    await serve(() => Promise.reject(new Error('defect')))
    expect(await askAgents(folder)).toEqual({ agents: [], silent: 2 })
  })

  it.each([
    { what: 'another question', bytes: '{"ask":"keys"}\n', said: /^\{"error":"expected/ },
    { what: 'no JSON', bytes: '\n', said: /^\{"error":"expected/ },
    { what: 'a question without end', bytes: 'x'.repeat(2_000), said: /^$/ },
    {
      what: 'the question in one line of many',
      bytes: '{"ask":"status"}\n{"ask":"status"}\n',
      said: /^\{"command":"serve"\}\n$/,
    },
  ])('ends the connection after $what', async ({ bytes, said }) => {
    expect(await say(await serve(HELLO), bytes)).toMatch(said)
  })

  it('clears away what nobody listens at, and touches nothing else', async () => {
    await serve(HELLO)
    writeFileSync(join(folder, 'run', 'stale.sock'), '')
    writeFileSync(join(folder, 'run', 'notes.txt'), '')
    const { agents } = await askAgents(folder)
    expect(agents).toHaveLength(1)
    expect(readdirSync(join(folder, 'run'))).toHaveLength(2)
  })

  it('is not made where others could get at it, or where its path would be too long', async () => {
    mkdirSync(join(folder, 'run'))
    chmodSync(join(folder, 'run'), 0o755)
    await expect(serve(HELLO)).rejects.toMatchObject({ code: 'ERR_STATE_UNAVAILABLE' })
    const long = join(folder, 'x'.repeat(90))
    mkdirSync(long, { mode: 0o700 })
    await expect(serve(HELLO, long)).rejects.toMatchObject({ code: 'ERR_STATE_UNAVAILABLE' })
    await expect(askAgents(long)).rejects.toMatchObject({ code: 'ERR_STATE_UNAVAILABLE' })
  })

  it('is gone when the agent ends', async () => {
    await serve(HELLO)
    await servers.pop()?.close()
    expect(readdirSync(join(folder, 'run'))).toEqual([])
  })
})
