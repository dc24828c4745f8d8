/**
 * The tools of a peer in an MCP host, beside a server of the official SDK that the host uses directly.
 *
 * @module
 */
import { withCallers } from '../callers.ts'
import { Collector, inRounds, OURS, type Row } from '../row.ts'
import { quantile } from '../statistics.ts'
import { type SubjectName } from '../subject.ts'

const WRAPPED = 'ct-agent mcp, wrapped server'
/** The server that is wrapped, used by the host itself. */
const DIRECT = 'MCP SDK stdio'
const SUBJECTS: readonly SubjectName[] = ['ct-agent mcp', WRAPPED, DIRECT, 'ct-agent gateway', 'MCP SDK HTTP']
const PINGS_A_ROUND = 500
const IN_FLIGHT = 64

export const hostsRow: Row = {
  name: 'hosts',
  run: ({ rounds, loadMs }) =>
    withCallers(SUBJECTS, async (callers) => {
      const [typical, worst, rates] = [new Collector(SUBJECTS), new Collector(SUBJECTS), new Collector(SUBJECTS)]
      for (const caller of callers) await caller.concurrent(IN_FLIGHT, loadMs)
      await inRounds(rounds, callers, async ({ name, sequential, concurrent }) => {
        const times = await sequential(PINGS_A_ROUND)
        typical.add(name, quantile(times, 0.5))
        worst.add(name, quantile(times, 0.99))
        rates.add(name, await concurrent(IN_FLIGHT, loadMs))
      })
      const valuesOf = (wanted: SubjectName): readonly number[] =>
        typical.measured.find(({ subject }) => subject === wanted)?.values ?? []
      const direct = valuesOf(DIRECT)
      const added = valuesOf(WRAPPED).map((value, round) => value - (direct[round] ?? Number.NaN))
      const figure = { better: 'lower', goals: [], unit: 'ms' } as const
      return [
        { ...figure, title: 'a call from an MCP host, p50', measured: typical.measured },
        { ...figure, title: 'a call from an MCP host, p99', measured: worst.measured },
        {
          ...figure,
          title: `what ct-agent mcp, the channel and ct-agent serve add to p50 of ${DIRECT}`,
          goals: [{ kind: 'at most', value: 0.5 }],
          measured: [{ subject: OURS, values: added }],
        },
        {
          title: `${IN_FLIGHT} calls in flight from an MCP host`,
          unit: 'calls/s',
          better: 'higher',
          goals: [],
          measured: rates.measured,
        },
      ]
    }),
}
