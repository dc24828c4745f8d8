/**
 * Small calls over an open connection: one after the other, and many at once.
 *
 * @module
 */
import { withCallers } from '../callers.ts'
import { Collector, inRounds, type Row } from '../row.ts'
import { quantile } from '../statistics.ts'
import { type SubjectName } from '../subject.ts'

const SUBJECTS: readonly SubjectName[] = ['ct-agent', 'raw TCP', 'raw libp2p', 'MCP SDK stdio', 'MCP SDK HTTP']
const PINGS_A_ROUND = 2_000
const WARM_UP_PINGS = 3_000
const IN_FLIGHT = 64

export const sequentialRow: Row = {
  name: 'ping',
  run: ({ rounds }) =>
    withCallers(SUBJECTS, async (callers) => {
      const [typical, worst] = [new Collector(SUBJECTS), new Collector(SUBJECTS)]
      for (const caller of callers) await caller.sequential(WARM_UP_PINGS)
      await inRounds(rounds, callers, async ({ name, sequential }) => {
        const times = await sequential(PINGS_A_ROUND)
        typical.add(name, quantile(times, 0.5))
        worst.add(name, quantile(times, 0.99))
      })
      return [
        {
          title: 'one ping after the other, p50',
          unit: 'ms',
          better: 'lower',
          goals: [{ kind: 'at most', times: 1.3, of: 'MCP SDK stdio' }],
          measured: typical.measured,
        },
        { title: 'one ping after the other, p99', unit: 'ms', better: 'lower', goals: [], measured: worst.measured },
      ]
    }),
}

export const concurrentRow: Row = {
  name: 'flight',
  run: ({ rounds, loadMs }) =>
    withCallers(SUBJECTS, async (callers) => {
      const rates = new Collector(SUBJECTS)
      for (const caller of callers) await caller.concurrent(IN_FLIGHT, loadMs)
      await inRounds(rounds, callers, async ({ name, concurrent }) => {
        rates.add(name, await concurrent(IN_FLIGHT, loadMs))
      })
      return [
        {
          title: `${IN_FLIGHT} pings in flight`,
          unit: 'calls/s',
          better: 'higher',
          goals: [
            { kind: 'at least', value: 25_000 },
            { kind: 'at least', times: 5, of: 'MCP SDK HTTP' },
          ],
          measured: rates.measured,
        },
      ]
    }),
}
