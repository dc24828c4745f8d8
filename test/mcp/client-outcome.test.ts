import { describe, expect, it } from 'vitest'
import { CtError, type ErrorCode } from '../../src/core/errors.ts'
import { createMcpClient } from '../../src/mcp/calling/client.ts'
import { FakeClock } from './fake-clock.ts'
import { portPair, settle } from './port-pair.ts'
import { recordingLog } from './serve.ts'

const CALL = { name: 'pay' }

function setUp() {
  const pair = portPair({ toServer: 1_000 })
  const clock = new FakeClock()
  const client = createMcpClient(pair.caller, { log: recordingLog().log, clock })
  return { client, pair, clock }
}

async function errorOf(promise: Promise<unknown>): Promise<CtError> {
  const error = await promise.catch((reason: unknown) => reason)
  if (!(error instanceof CtError)) throw new Error(`expected a CtError, found ${String(error)}`)
  return error
}

describe('a tools/call without an answer', () => {
  it('is not to be tried again after the time limit: it may have run', async () => {
    const { client, clock } = setUp()
    const failed = errorOf(client.request('tools/call', CALL, { timeoutMs: 1_000 }))
    clock.advance(1_000)
    expect(await failed).toMatchObject({ code: 'ERR_CALL_TIMEOUT', facts: { exit: 6, retryable: false } })
  })

  it('has an unknown outcome when the link breaks, with the reason of the link as cause', async () => {
    const { client, pair } = setUp()
    const failed = errorOf(client.request('tools/call', CALL))
    pair.cut()
    const error = await failed
    expect(error).toMatchObject({ code: 'ERR_CALL_OUTCOME_UNKNOWN', cause: { code: 'ERR_LINK_LOST' } })
    expect(error.facts.retryable).toBe(false)
  })

  it('has an unknown outcome when this side hangs up', async () => {
    const { client } = setUp()
    const failed = errorOf(client.request('tools/call', CALL))
    client.close()
    expect(await failed).toMatchObject({ code: 'ERR_CALL_OUTCOME_UNKNOWN', cause: { code: 'ERR_LINK_CLOSED' } })
  })

  it('has an unknown outcome when the link breaks while the call waits in its queue', async () => {
    const { client, pair } = setUp()
    const queued = Promise.withResolvers<void>()
    pair.caller.send = () => queued.promise
    const failed = errorOf(client.request('tools/call', CALL))
    queued.reject(new CtError('ERR_LINK_LOST', 'cut'))
    expect((await failed).code).toBe('ERR_CALL_OUTCOME_UNKNOWN')
  })

  const refusals: readonly ErrorCode[] = ['ERR_PEER_REFUSED', 'ERR_PEER_BUSY', 'ERR_VERSION_UNSUPPORTED']
  for (const code of refusals) {
    it(`did not run when the peer ended the link with ${code} instead of admitting us`, async () => {
      const { client, pair } = setUp()
      pair.caller.isReady = false
      const failed = errorOf(client.request('tools/call', CALL))
      pair.caller.end({ reason: new CtError(code, 'no'), final: true })
      expect((await failed).code).toBe(code)
    })

    it(`may have run when a peer that had admitted us ended the link with ${code}`, async () => {
      const { client, pair } = setUp()
      const failed = errorOf(client.request('tools/call', CALL))
      pair.caller.end({ reason: new CtError(code, 'no'), final: true })
      expect((await failed).code).toBe('ERR_CALL_OUTCOME_UNKNOWN')
    })
  }

  it('may have run when the link broke before it was known whether the peer admits us', async () => {
    const { client, pair } = setUp()
    pair.caller.isReady = false
    const failed = errorOf(client.request('tools/call', CALL))
    pair.cut()
    expect((await failed).code).toBe('ERR_CALL_OUTCOME_UNKNOWN')
  })

  it('did not run when it was never sent', async () => {
    const { client, pair } = setUp()
    const large = { name: 'pay', arguments: { text: 'x'.repeat(1_000) } }
    expect((await errorOf(client.request('tools/call', large))).code).toBe('ERR_MESSAGE_TOO_LARGE')
    pair.cut()
    await settle()
    expect((await errorOf(client.request('tools/call', CALL))).code).toBe('ERR_LINK_LOST')
  })
})

describe('any other request without an answer', () => {
  it('may be tried again', async () => {
    const { client, pair, clock } = setUp()
    const late = errorOf(client.request('tools/list', undefined, { timeoutMs: 1_000 }))
    clock.advance(1_000)
    expect(await late).toMatchObject({ code: 'ERR_TIMEOUT', facts: { retryable: true } })
    const cut = errorOf(client.request('tools/list'))
    pair.cut()
    expect((await cut).code).toBe('ERR_LINK_LOST')
  })
})
