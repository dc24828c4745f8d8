import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { checkHandlerUrl } from '../../../src/agent/doctor/handler-url-check.ts'

const { signal } = new AbortController()

/** What the check finds at a port where something listens, and at the same one when it does not any more. */
async function around(host: string, check: (port: number) => Promise<unknown>): Promise<readonly unknown[]> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new TypeError('expected a port')
  const open = await check(address.port)
  await new Promise((resolve) => server.close(resolve))
  return [open, await check(address.port)]
}

describe('the check of a handler that is asked over HTTP', () => {
  it('tells whether something listens there', async () => {
    const check = (port: number) =>
      checkHandlerUrl(new URL(`http://127.0.0.1:${port}/x`), { hasServices: true }, signal)
    expect(await around('127.0.0.1', check)).toMatchObject([
      [{ code: 'handler.ok' }],
      [{ code: 'handler.unreachable' }],
    ])
  })

  it('says that no service uses it', async () => {
    const check = (port: number) =>
      checkHandlerUrl(new URL(`http://127.0.0.1:${port}/`), { hasServices: false }, signal)
    const unused = { code: 'handler.unused' }
    expect(await around('127.0.0.1', check)).toMatchObject([
      [{}, unused],
      [{}, unused],
    ])
  })
})
