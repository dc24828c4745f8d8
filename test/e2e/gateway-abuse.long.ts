import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect } from 'vitest'
import { until } from '../mcp/services/processes.ts'
import { beginSession, echo, messagesOf, post, startGateway } from './gateway.ts'
import { it, type Stage } from './stage.ts'

const LONG = { timeout: 120_000 } as const
const INITIALIZE = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } }

/** Sockets that say a little every now and then, and count those that were closed. */
async function dawdlers(stage: Stage, url: string, count: number, first: string, drip: string) {
  const { hostname, port } = new URL(url)
  const sockets: Socket[] = []
  let closed = 0
  for (let index = 0; index < count; index += 1) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.on('close', () => {
      closed += 1
    })
    socket.resume()
    sockets.push(socket)
    await once(socket, 'connect')
    socket.write(first)
  }
  const timer = setInterval(() => {
    for (const socket of sockets) if (!socket.destroyed) socket.write(drip)
  }, 1_000)
  stage.onClose(() => {
    clearInterval(timer)
    for (const socket of sockets) socket.destroy()
  })
  return { closed: () => closed }
}

describe('a gateway that is not treated well', LONG, () => {
  for (const { what, first, drip } of [
    { what: 'heads', first: 'POST /mcp HTTP/1.1\r\nHost: localhost\r\n', drip: 'X-A: b\r\n' },
    {
      what: 'bodies',
      first:
        'POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"id":1,',
      drip: ' ',
    },
  ]) {
    it(`ends connections whose ${what} never end, and serves others meanwhile`, async ({ stage }) => {
      const { url } = await startGateway(stage)
      const session = await beginSession(url)
      const slow = await dawdlers(stage, url, 300, first, drip)
      for (const word of ['a', 'b', 'c']) {
        expect(await messagesOf(await post(url, echo(word), session))).toMatchObject([{ id: 1, result: {} }])
      }
      expect(slow.closed()).toBe(0)
      await until('the end of the slow ones', () => slow.closed() === 300, 45_000)
    })
  }

  it('keeps a bounded number of sessions through a flood of ten thousand, and those in use', async ({ stage }) => {
    // What is kept of each that is gone would not fit many times.
    const { url } = await startGateway(stage, { node: ['--max-old-space-size=64'] })
    const session = await beginSession(url)
    const listening = await fetch(url, { headers: { ...session, accept: 'text/event-stream' } })
    for (let begun = 0; begun < 10_000; begun += 50) {
      const answers = await Promise.all(Array.from({ length: 50 }, () => post(url, INITIALIZE)))
      for (const answer of answers) expect(answer.status).toBe(200)
      await Promise.all(answers.map((answer) => answer.arrayBuffer()))
    }
    expect(await messagesOf(await post(url, echo('still'), session))).toMatchObject([{ id: 1, result: {} }])
    await listening.body?.cancel()
  })

  it('does not fill its memory for a host that reads nothing, and serves others meanwhile', async ({ stage }) => {
    const handler = 'read -r line; head -c 2000000 /dev/zero | tr "\\0" x'
    // The answers together have some 400 MB.
    const { url } = await startGateway(stage, { serve: ['--handler', handler], node: ['--max-old-space-size=256'] })
    const session = await beginSession(url)
    const { hostname, port } = new URL(url)
    const body = JSON.stringify(echo('x'))
    const head = [
      'POST /mcp HTTP/1.1',
      'Host: localhost',
      'Content-Type: application/json',
      'Accept: text/event-stream',
      `Mcp-Session-Id: ${session['mcp-session-id']}`,
      `Content-Length: ${body.length}`,
    ]
    for (let count = 0; count < 64; count += 1) {
      const socket = connect(Number(port), hostname)
      socket.pause()
      socket.on('error', () => {})
      stage.onClose(() => void socket.destroy())
      await once(socket, 'connect')
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
    }
    const other = await beginSession(url)
    const ping = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'ping' } }
    for (let count = 0; count < 100; count += 1) {
      expect(await messagesOf(await post(url, ping, other))).toMatchObject([{ id: 1, result: {} }])
    }
  })
})
