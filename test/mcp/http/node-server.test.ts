import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/core/time.ts'
import { type Body, type HttpReply, type HttpRequest } from '../../../src/mcp/http/http.ts'
import { type HttpServer, serveHttp } from '../../../src/mcp/http/node-server.ts'
import { FakeClock } from '../fake-clock.ts'
import { until } from '../services/processes.ts'

const open: HttpServer[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close(0)))
})

async function serve(handle: (request: HttpRequest, reply: HttpReply) => Promise<void>, clock = systemClock) {
  const server = await serveHttp({ host: '127.0.0.1', port: 0 }, handle, clock)
  open.push(server)
  return { server, url: `http://127.0.0.1:${server.port}/x?y=1` }
}

/** Reads the body and says what came of it. */
function reading() {
  const bodies: Body[] = []
  const handle = async (request: HttpRequest, reply: HttpReply) => {
    const body = await request.body()
    bodies.push(body)
    reply.answer(200, { 'x-kind': body.kind }, body.kind === 'oversize' ? String(body.totalBytes) : '')
  }
  return { bodies, handle }
}

/** Sends the text as it is and resolves with all that comes back until the end. */
async function converse(port: number, ...texts: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let heard = ''
  socket.on('data', (chunk: Buffer) => {
    heard += chunk.toString()
  })
  socket.on('error', () => {})
  for (const text of texts) socket.write(text)
  await once(socket, 'close')
  return heard
}

const POST = 'POST / HTTP/1.1\r\nHost: x\r\n'

describe('the HTTP server of the gateway', () => {
  it('hands on what is asked without the query, and headers by name', async () => {
    const { url } = await serve(async (request, reply) => {
      const { method, path, header } = request
      reply.answer(200, {}, JSON.stringify([method, path, header('x-a'), header('x-none')]))
      await Promise.resolve()
    })
    const response = await fetch(url, {
      method: 'DELETE',
      headers: [
        ['X-A', '1'],
        ['x-a', '2'],
      ] as [string, string][],
    })
    expect(await response.json()).toEqual(['DELETE', '/x', '1, 2', null])
  })

  it('reads a body that is small enough, and of a larger one the head', async () => {
    const { bodies, handle } = reading()
    const { url } = await serve(handle)
    const kind = async (body: string) => (await fetch(url, { method: 'POST', body })).headers.get('x-kind')
    expect(await kind('{"id":1}')).toBe('whole')
    expect(await kind('x'.repeat(10_485_760))).toBe('whole')
    const large = await fetch(url, { method: 'POST', body: `{"id":"big",${'x'.repeat(12_000_000)}` })
    expect([large.headers.get('x-kind'), await large.text()]).toEqual(['oversize', '12000012'])
    expect(bodies[0]).toEqual({ kind: 'whole', bytes: Buffer.from('{"id":1}') })
    const [, , last] = bodies
    expect(last?.kind === 'oversize' ? Buffer.from(last.head).toString().slice(0, 12) : '').toBe('{"id":"big",')
  })

  it('tells when the client is gone in the middle of its body, and of its answer', async () => {
    const { bodies, handle } = reading()
    let isAsked = false
    const { server } = await serve((request, reply) => {
      isAsked = true
      return handle(request, reply)
    })
    const socket = connect(server.port, '127.0.0.1')
    socket.write(`${POST}Content-Length: 100\r\n\r\n{`)
    await until('the request', () => isAsked)
    socket.destroy()
    await until('the cut', () => bodies.length === 1)
    expect(bodies).toEqual([{ kind: 'cut' }])
    const told: string[] = []
    const other = await serve(async (_, reply) => {
      reply.onGone(() => told.push('gone'))
      reply.onEnd(() => told.push('end'))
      const sink = reply.stream({})
      sink.onGone(() => told.push('sink'))
      sink.write('x')
      await Promise.resolve()
    })
    const cut = new AbortController()
    await fetch(other.url, { signal: cut.signal })
    cut.abort()
    await until('the end', () => told.length === 3)
    expect(told).toEqual(['gone', 'end', 'sink'])
  })

  it('does not tell of a client that has it all as gone', async () => {
    const told: string[] = []
    const { url } = await serve(async (_, reply) => {
      reply.onGone(() => told.push('gone'))
      reply.onEnd(() => told.push('end'))
      reply.answer(200, {}, 'x')
      reply.answer(500, {}, 'y')
      await Promise.resolve()
    })
    expect(await (await fetch(url)).text()).toBe('x')
    await until('the end', () => told.length > 0)
    expect(told).toEqual(['end'])
  })

  it('refuses heads that are too large, and what is no HTTP', async () => {
    const { handle, bodies } = reading()
    const { server } = await serve(handle)
    expect(await converse(server.port, `${POST}X-A: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 431 /)
    expect(await converse(server.port, 'Content-Length: 2\r\n\r\n{}')).toMatch(/^HTTP\/1\.1 400 /)
    const smuggled = `${POST}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`
    expect(await converse(server.port, smuggled)).toMatch(/^HTTP\/1\.1 400 /)
    expect(await converse(server.port, 'GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
    expect(bodies).toEqual([])
  })

  it('keeps the connection of who is refused with little unread, and no other', async () => {
    const { server } = await serve(async (_, reply) => {
      reply.answer(401, {})
      await Promise.resolve()
    })
    const small = `${POST}Content-Length: 2\r\n\r\n{}`
    const large = `${POST}Content-Length: 5000000\r\n\r\n{`
    const heard = await converse(server.port, small, small, large)
    expect([...heard.matchAll(/^HTTP\/1\.1 401 .*$/gm)]).toHaveLength(3)
    expect([...heard.matchAll(/^connection: close/gim)]).toHaveLength(1)
  })

  it('cuts off whoever does not take the end of an answer', async () => {
    const clock = new FakeClock()
    const told: string[] = []
    const { server } = await serve(async (_, reply) => {
      reply.onGone(() => told.push('gone'))
      reply.answer(200, {}, 'x'.repeat(50_000_000))
      await Promise.resolve()
    }, clock)
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.pause()
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await until('the answer', () => clock.timers > 0)
    clock.advance(29_000)
    expect(told).toEqual([])
    clock.advance(2_000)
    await until('the end', () => told.length > 0)
    socket.destroy()
  })

  it('cuts off whoever has taken nothing for longest when all together leave too much', async () => {
    const gone: number[] = []
    let count = 0
    const { server } = await serve(async (_, reply) => {
      const mine = count
      count += 1
      reply.onGone(() => gone.push(mine))
      reply.stream({}).write('x'.repeat(20_000_000))
      await Promise.resolve()
    })
    const sockets = []
    for (let index = 0; index < 5; index += 1) {
      const socket = connect(server.port, '127.0.0.1')
      socket.on('error', () => {})
      socket.pause()
      sockets.push(socket)
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await until('the answer', () => count === index + 1)
    }
    await until('the end of the first two', () => gone.length === 2)
    expect(gone).toEqual([0, 1])
    for (const socket of sockets) socket.destroy()
  })
})
