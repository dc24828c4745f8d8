/**
 * The raw pipe: speed in one direction.
 *
 * @module
 */
import { offer, openPipe, PIPE_SUBJECTS, type PipeName } from '../pipes.ts'
import { Collector, inRounds, type Row } from '../row.ts'

/** Bytes that pass before the watch starts: connecting and compiling are not the pipe's speed. */
const WARM_UP_BYTES = 16 * 1024 * 1024

export const pipeRow: Row = {
  name: 'pipe',
  run: async ({ rounds, pipedBytes }) => {
    const speeds = new Collector(PIPE_SUBJECTS)
    await inRounds(rounds, PIPE_SUBJECTS, async (name) => speeds.add(name, await speedOf(name, pipedBytes)))
    return [
      {
        title: 'stdin to stdout through a channel',
        unit: 'MB/s',
        better: 'higher',
        goals: [{ kind: 'at least', times: 0.9, of: 'raw libp2p' }],
        measured: speeds.measured,
      },
    ]
  },
}

async function speedOf(name: PipeName, bytes: number): Promise<number> {
  const pipe = await openPipe(name)
  const done = Promise.withResolvers<number>()
  let arrived = 0
  let began = 0
  pipe.receiver.stdout.on('data', (chunk: Buffer) => {
    arrived += chunk.length
    if (arrived < WARM_UP_BYTES) began = performance.now()
    if (arrived >= bytes) done.resolve((bytes - WARM_UP_BYTES) / 1_000 / (performance.now() - began))
  })
  pipe.receiver.once('exit', (code) => done.reject(new Error(`the receiving end of ${name} exited with ${code}`)))
  pipe.sender.once('exit', (code) => code !== 0 && done.reject(new Error(`the sender of ${name} exited with ${code}`)))
  void offer(pipe, bytes, AbortSignal.timeout(60_000))
  try {
    return await done.promise
  } finally {
    pipe.close()
  }
}
