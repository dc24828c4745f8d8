import { describe, expect } from 'vitest'
import { openDelayProxy } from '../../bench/delay-proxy.ts'
import { seeded } from '../faults/seeded.ts'
import { Meeting, portOf } from './brokered.ts'
import { serving } from './members.ts'
import { it } from './stage.ts'

const ROUND_TRIP_MS = 300
/** One piece in twenty is lost, and sent again when its acknowledgement did not come in time. */
const LOSS = 0.05
const RETRANSMISSION_MS = 2 * ROUND_TRIP_MS
const CALLS = 40

describe('two members 300 ms from their broker, on networks that lose one packet in twenty', {
  timeout: 240_000,
}, () => {
  it('reach each other through the relay, and every call has its answer', async ({ stage }) => {
    const meeting = new Meeting(stage)
    const { address } = await meeting.broker()
    let late = 0
    const away = async (seed: number): Promise<string> => {
      const random = seeded(seed)
      const lateMs = (): number => {
        const isLost = random() < LOSS
        late += isLost ? 1 : 0
        return isLost ? RETRANSMISSION_MS : 0
      }
      const proxy = await openDelayProxy(ROUND_TRIP_MS, Number(portOf(address)), lateMs)
      stage.onClose(proxy.close)
      return address.replace(/\/tcp\/\d+/, `/tcp/${proxy.port}`)
    }
    await meeting.accept(await away(1), serving('cat', { CT_CHANNEL_RELAY_ONLY: '1' }))
    const caller = meeting.initiate(await away(2), { CT_CHANNEL_CALL_SERVICE: 'echo' })
    const words = Array.from({ length: CALLS }, (_, index) => `line ${index}`)
    caller.end(`${words.join('\n')}\n`)
    expect((await caller.exit).status).toBe(0)
    expect(caller.lines).toEqual(words.map((output) => JSON.stringify({ ok: true, output })))
    expect(caller.stderr).not.toMatch(/reconnect|lost/)
    expect(late).toBeGreaterThan(5)
  })
})
