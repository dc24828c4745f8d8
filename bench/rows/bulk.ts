/**
 * Much in one direction, and small calls beside it on the same connection.
 *
 * @module
 */
import { withCallers } from '../callers.ts'
import { Collector, inRounds, type Row } from '../row.ts'
import { quantile } from '../statistics.ts'
import { type SubjectName } from '../subject.ts'

const SUBJECTS: readonly SubjectName[] = ['ct-agent', 'raw TCP', 'raw libp2p']

export const bulkRow: Row = {
  name: 'bulk',
  run: ({ rounds, loadMs }) =>
    withCallers(SUBJECTS, async (callers) => {
      const [speeds, waits] = [new Collector(SUBJECTS), new Collector(SUBJECTS)]
      for (const caller of callers) await caller.bulk(loadMs)
      await inRounds(rounds, callers, async ({ name, bulk }) => {
        const { megabytesPerSecond, pings } = await bulk(loadMs)
        speeds.add(name, megabytesPerSecond)
        waits.add(name, quantile(pings, 0.99))
      })
      return [
        {
          title: 'arguments of 1 MiB, one way',
          unit: 'MB/s',
          better: 'higher',
          goals: [],
          measured: speeds.measured,
          note: 'ct-agent sends JSON-RPC calls that the server parses and answers; the others send bare bytes',
        },
        {
          title: 'ping meanwhile, p99',
          unit: 'ms',
          better: 'lower',
          goals: [{ kind: 'at most', value: 10 }],
          measured: waits.measured,
        },
      ]
    }),
}
