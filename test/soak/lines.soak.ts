import { readFileSync } from 'node:fs'
import { describe, expect } from 'vitest'
import { Members, serving } from '../e2e/members.ts'
import { startProxy } from '../e2e/proxy.ts'
import { it } from '../e2e/stage.ts'

const LINES = 1_500
/** Lines between two cuts: a session that lasts for less than five seconds makes the caller wait longer each time. */
const CUT_EVERY = 100

describe('a caller with a connection that breaks again and again', () => {
  it('has every line answered once and run once (W16)', async ({ stage }) => {
    const members = new Members(stage)
    const runs = stage.path('runs')
    const { address } = await members.accept(serving(`read -r line; echo "$line" >>'${runs}'; echo "$line"`))
    const proxy = await startProxy(stage, address)
    const caller = members.call(proxy.address, { CT_CHANNEL_CALL_SERVICE: 'echo' })
    const words = Array.from({ length: LINES }, (_, index) => `line ${index}`)
    caller.end(`${words.join('\n')}\n`)
    for (let answered = CUT_EVERY; answered < LINES; answered += CUT_EVERY) {
      await caller.line(answered)
      proxy.cut()
    }
    expect((await caller.exit).status).toBe(0)
    expect(caller.lines).toEqual(words.map((output) => JSON.stringify({ ok: true, output })))
    expect(readFileSync(runs, 'utf8').trim().split('\n')).toEqual(words)
    expect(proxy.connections).toBeGreaterThan(LINES / CUT_EVERY / 2)
  })
})
