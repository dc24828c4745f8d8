import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Served, serveHandler } from './serve-handler.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>

/** A server that answers so, and the service whose handler it is. */
async function serveHttp(answer: Answer, env: Readonly<Record<string, string>> = {}): Promise<Served> {
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return serveHandler(undefined, {
    env: {
      CT_AGENT_SERVICE_HANDLER_MODE: 'http',
      CT_AGENT_SERVICE_HANDLER_URL: `http://127.0.0.1:${port}/run`,
      ...env,
    },
  })
}

const saying =
  (body: string, status = 200, headers: Readonly<Record<string, string>> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, headers).end(body)
  }

describe('an HTTP handler', () => {
  it('gets a POST of JSON and answers with its output', async () => {
    let asked: unknown
    const { call } = await serveHttp(async (request, response) => {
      asked = { method: request.method, url: request.url, body: JSON.parse(await text(request)) as unknown }
      response.end('{"output":"answer"}')
    })
    expect(await call('grüße')).toEqual({ output: 'answer' })
    const body = { service: 'echo', call: 'call-1', peer: 'ab'.repeat(32), input: 'grüße' }
    expect(asked).toEqual({ method: 'POST', url: '/run', body })
  })

  for (const [name, answer, message] of [
    ['its own words of a failure', saying('{"error":{"message":"no such city"}}'), /handler reported: no such city/],
    ['another status', saying('{"output":"x"}', 500), /answered with HTTP status 500/],
    ['another place', saying('', 302, { location: 'http://127.0.0.1:1/' }), /answered with HTTP status 302/],
    ['no JSON', saying('hello'), /answered with something else than/],
    ['JSON without output', saying('{"result":1}'), /answered with something else than/],
    ['more than is allowed', saying(`{"output":"${'x'.repeat(200_000)}"}`), /answered with more than 100000 bytes/],
    ['the end of the connection', (request: IncomingMessage) => void request.socket.destroy(), /broke off: ECONNRESET/],
  ] as const) {
    it(`that answers with ${name} is a tool error`, async () => {
      const { call, lines } = await serveHttp(answer, { CT_AGENT_SERVICE_MAX_OUTPUT_BYTES: '100000' })
      await expect(call('x')).rejects.toMatchObject({ code: 'ERR_TOOL_FAILED', message })
      expect(lines).toMatchObject([{ event: 'service.failed', facts: { reference: 'ref-1' } }])
    })
  }

  it('that is not there is a tool error', async () => {
    const { call } = await serveHttp(saying(''), { CT_AGENT_SERVICE_HANDLER_URL: 'http://127.0.0.1:1/' })
    await expect(call('x')).rejects.toMatchObject({ code: 'ERR_TOOL_FAILED', message: /ECONNREFUSED/ })
  })

  it('that takes too long is cut off', async () => {
    const { call } = await serveHttp(() => {}, { CT_AGENT_SERVICE_TIMEOUT_SECS: '1' })
    await expect(call('x')).rejects.toMatchObject({ code: 'ERR_TOOL_FAILED', message: /timed out after 1s/ })
  })

  it('sees the connection end when the caller cancels, or the agent ends', async () => {
    for (const ending of ['cancel', 'close'] as const) {
      const gone = Promise.withResolvers<void>()
      const begun = Promise.withResolvers<void>()
      const { call, services } = await serveHttp((_, response) => {
        response.on('close', gone.resolve)
        begun.resolve()
      })
      const caller = new AbortController()
      const ended = expect(call('x', { signal: caller.signal })).rejects.toMatchObject({
        code: ending === 'cancel' ? 'ERR_CALL_CANCELLED' : 'ERR_CALL_INTERRUPTED',
      })
      await begun.promise
      if (ending === 'cancel') caller.abort()
      else await services.close()
      await Promise.all([ended, gone.promise])
    }
  })
})
