/**
 * Readers that have stalled: what piles up on either side, and what the sender is told.
 *
 * @module
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { endAtExit, memoryOf } from '../children.ts'
import { type Outcome } from '../outcome.ts'
import { offer, openPipe, PIPE_SUBJECTS } from '../pipes.ts'
import { Collector, type Figure, OURS, type Row } from '../row.ts'
import { serveAgent } from '../subjects/ct-agent.ts'

/** Time for whatever will pile up to pile up. */
const STALL_MS = 5_000
const CONNECT_MS = 1_000
const shape = { unit: 'MB', better: 'lower', goals: [{ kind: 'at most', value: 32 }] } as const

/** The pipe's reader lives but takes nothing, so the sender has to wait. */
export const stalledRow: Row = {
  name: 'stalled',
  run: async ({ offeredBytes }) => {
    const [senders, receivers] = [new Collector(PIPE_SUBJECTS), new Collector(PIPE_SUBJECTS)]
    for (const name of PIPE_SUBJECTS) {
      const pipe = await openPipe(name)
      await sleep(CONNECT_MS)
      const weigh = (): readonly number[] => [memoryOf(pipe.sender.pid ?? 0), memoryOf(pipe.receiver.pid ?? 0)]
      const before = weigh()
      await offer(pipe, offeredBytes, AbortSignal.timeout(STALL_MS))
      const [sender = Number.NaN, receiver = Number.NaN] = weigh().map((now, side) => now - (before[side] ?? 0))
      senders.add(name, sender / 1_000_000)
      receivers.add(name, receiver / 1_000_000)
      pipe.close()
    }
    return [
      { ...shape, title: 'stalled pipe: memory the sender gains', measured: senders.measured },
      { ...shape, title: 'stalled pipe: memory the receiver gains', measured: receivers.measured },
    ]
  },
}

/** The whole serving process is frozen while messages are offered. */
export const frozenRow: Row = {
  name: 'frozen',
  run: async ({ offeredBytes }): Promise<readonly Figure[]> => {
    const server = await serveAgent('frozen')
    const path = fileURLToPath(new URL('../offerer.ts', import.meta.url))
    const child = fork(path, [server.firstLine, String(offeredBytes)])
    endAtExit(child)
    await once(child, 'message')
    server.child.kill('SIGSTOP')
    child.send('go')
    const [{ gainedBytes, code, milliseconds }] = (await once(child, 'message')) as [Outcome]
    await server.stop()
    return [
      {
        ...shape,
        title: 'frozen server: memory the caller gains',
        measured: [{ subject: OURS, values: [gainedBytes / 1_000_000] }],
        note: `${offeredBytes / 2 ** 20} MiB of messages offered at once; they ended with ${code || 'no error'} after ${(milliseconds / 1_000).toFixed(1)} s`,
      },
    ]
  },
}
