import { describe, expect, it } from 'vitest'
import { listTools } from '../../src/agent/calling/tool-list.ts'
import { createMcpClient } from '../../src/mcp/calling/client.ts'
import { silentLog } from '../silent-log.ts'
import { FakeClock } from './fake-clock.ts'
import { serve, toolOf } from './serve.ts'

const LIMIT = 20_000

function served(count: number, chars: number) {
  const tools = Array.from({ length: count }, (_, index) =>
    toolOf(`tool${String(index).padStart(4, '0')}`, () => 1, { description: 'x'.repeat(chars) }),
  )
  const { pair } = serve({ tools, toCaller: LIMIT })
  const client = createMcpClient(pair.caller, { log: silentLog, clock: new FakeClock() })
  const call = (method: string, params: Parameters<typeof client.request>[1]) => client.request(method, params)
  return { pair, listed: () => listTools({ call }) }
}

describe('a list of tools', () => {
  it('comes as a whole where it fits', async () => {
    const { listed } = served(100, 10)
    const { answers, tools } = await listed()
    expect(answers).toHaveLength(1)
    expect(tools).toHaveLength(100)
  })

  for (const { count, chars } of [
    { count: 1_000, chars: 10 },
    { count: 40, chars: 9_000 },
    { count: 3, chars: 19_000 },
  ]) {
    it(`comes in pages where it does not, each within the limit: ${count} tools of ${chars} characters`, async () => {
      const { pair, listed } = served(count, chars)
      const { answers, tools } = await listed()
      expect(answers.length).toBeGreaterThan(1)
      expect(new Set(tools.map(({ name }) => name)).size).toBe(count)
      expect(tools).toHaveLength(count)
      expect(pair.server.texts.every((text) => Buffer.byteLength(text) <= LIMIT)).toBe(true)
    })
  }

  it('is refused only for a tool that does not fit by itself', async () => {
    const { listed } = served(2, 30_000)
    await expect(listed()).rejects.toMatchObject({ code: 'ERR_MESSAGE_TOO_LARGE' })
  })
})
