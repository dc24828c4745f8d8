import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeUtf8 } from '../../src/core/bytes.ts'
import { type CtError } from '../../src/core/errors.ts'
import { type HolderId, type InstanceId } from '../../src/core/ids.ts'
import { isJsonObject } from '../../src/core/json.ts'
import { Backoff } from '../../src/core/time.ts'
import { createResumableCaller } from '../../src/mcp/calling/resumable-caller.ts'
import { createCallLedger, type Execution, type LedgerLink } from '../../src/mcp/serving/call-ledger.ts'
import { silentLog } from '../silent-log.ts'
import { FakeClock } from './fake-clock.ts'
import { settle } from './port-pair.ts'
import { deferred, type Served, serve, toolOf } from './serve.ts'

const RUN = 'ab'.repeat(16) as InstanceId
const PEER = 'cc'.repeat(32) as HolderId

type Step = 'call' | 'finish' | 'cut' | 'mute server' | 'mute caller' | 'wait' | 'pass grace' | 'restart'

const ORDINARY: readonly Step[] = ['call', 'call', 'finish', 'cut', 'mute server', 'mute caller', 'wait']

/** Plays the steps, then lets everything end; yields what became of every call and how often each was executed. */
async function play(steps: readonly Step[]): Promise<{ outcomes: string[]; runs: number[] }> {
  const clock = new FakeClock()
  const runs: number[] = []
  const gates: ReturnType<typeof deferred<string>>[] = []
  const tool = toolOf('count', (args) => {
    const number = isJsonObject(args) ? Number(args['number']) : -1
    runs[number] = (runs[number] ?? 0) + 1
    const gate = deferred<string>()
    gates.push(gate)
    return gate.promise.then(() => number)
  })
  let ledger = createCallLedger(clock)
  let last: Served | undefined
  const caller = createResumableCaller({
    connect: async () => {
      last = serve({ tools: [tool], ledger, clock })
      return last.pair.caller
    },
    instance: RUN,
    backoff: new Backoff({ baseMs: 100, capMs: 400, stableMs: 5_000 }, () => 0.5),
    clock,
    log: silentLog,
    limits: { maxInFlight: 4 },
  })
  const calls: Promise<string>[] = []
  for (const step of steps) {
    if (step === 'call') {
      const number = calls.length
      runs[number] ??= 0
      calls.push(
        caller.call('tools/call', { name: 'count', arguments: { number } }).then(
          (answer) => ('error' in answer ? answer.error.code : `result ${JSON.stringify(answer.result)}`),
          (error: CtError) => error.code,
        ),
      )
    } else if (step === 'finish') gates.shift()?.resolve('go')
    else if (step === 'cut') last?.pair.cut()
    else if (step === 'mute server' && last !== undefined) last.pair.server.frozen = true
    else if (step === 'mute caller' && last !== undefined) last.pair.caller.frozen = true
    else if (step === 'wait') clock.advance(400)
    else if (step === 'pass grace') clock.advance(10_000)
    else if (step === 'restart') {
      last?.pair.cut()
      ledger.close()
      ledger = createCallLedger(clock)
    }
    await settle()
  }
  for (let round = 0; caller.pending > 0; round += 1) {
    if (round > steps.length + 20) throw new Error(`${caller.pending} calls never end`)
    if (last?.pair.server.frozen === true || last?.pair.caller.frozen === true) last.pair.cut()
    await settle()
    clock.advance(400)
    await settle()
    for (const gate of gates.splice(0)) gate.resolve('go')
    await settle()
  }
  return { outcomes: await Promise.all(calls), runs }
}

describe('createResumableCaller and createCallLedger, under faults', () => {
  it('execute every call once and lose none, whatever breaks, as long as the serving side lives', async () => {
    // The first call must have arrived: before that, the serving side cannot tell its own restart from a lost message.
    const start: readonly Step[] = ['call', 'wait']
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...ORDINARY), { maxLength: 40 }), async (steps) => {
        const { outcomes, runs } = await play([...start, ...steps])
        expect(outcomes).toEqual(outcomes.map((_, number) => `result ${number}`))
        expect(runs).toEqual(outcomes.map(() => 1))
      }),
      { numRuns: 60 },
    )
  })

  it('end every call in one result or one honest error when the serving side restarts or forgets', async () => {
    const steps = fc.constantFrom<Step>(...ORDINARY, 'restart', 'pass grace')
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 40 }), async (played) => {
        const { outcomes, runs } = await play(played)
        for (const [number, outcome] of outcomes.entries()) {
          expect(runs[number]).toBeLessThanOrEqual(1)
          if (outcome === `result ${number}`) expect(runs[number]).toBe(1)
          else expect(['ERR_CALL_OUTCOME_UNKNOWN', 'ERR_CALL_INTERRUPTED']).toContain(outcome)
        }
      }),
      { numRuns: 60 },
    )
  })
})

describe('createCallLedger, for any order of messages', () => {
  it('executes no number twice and answers on one link only', () => {
    const message = fc.record({
      link: fc.nat(3),
      sequence: fc.integer({ min: 1, max: 6 }),
      resent: fc.boolean(),
      acknowledgedBelow: fc.constantFrom(1, 1, 1, 2, 3),
      next: fc.constantFrom('nothing', 'nothing', 'finish', 'cancel', 'close link', 'pass time'),
    })
    fc.assert(
      fc.property(fc.array(message, { maxLength: 60 }), (messages) => {
        const clock = new FakeClock()
        const ledger = createCallLedger(clock)
        const links: LedgerLink[] = Array.from({ length: 4 }, () => ledger.open(PEER))
        const running = new Map<number, Execution>()
        const runs = new Map<number, number>()
        const answers = new Map<number, number>()
        for (const { link, sequence, resent, acknowledgedBelow, next } of messages) {
          const admission = links[link]?.admit({
            tag: { instance: RUN, sequence, acknowledgedBelow, resent },
            request: encodeUtf8(`request ${sequence}`),
            isIdempotent: () => false,
            answer: () => answers.set(sequence, (answers.get(sequence) ?? 0) + 1),
            release: () => {},
          })
          if (admission?.kind === 'execute') {
            runs.set(sequence, (runs.get(sequence) ?? 0) + 1)
            running.set(sequence, admission.execution)
            admission.execution.onStop(({ code }) => code)
          }
          if (admission?.kind === 'replay') expect(runs.get(sequence)).toBe(1)
          if (next === 'finish') running.get(sequence)?.finish('done')
          if (next === 'cancel') running.get(sequence)?.cancel()
          // Not long enough in all for the run to be forgotten.
          if (next === 'pass time') clock.advance(9_000)
          if (next === 'close link') {
            links[link]?.close(false)
            links[link] = ledger.open(PEER)
          }
        }
        for (const count of [...runs.values(), ...answers.values()]) expect(count).toBe(1)
      }),
      { numRuns: 500 },
    )
  })
})
