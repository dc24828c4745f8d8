/**
 * Many members that wait at one broker, each with its place at the relay.
 *
 * @module
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseBroker } from '../../src/channel/broker-address.ts'
import { toHex } from '../../src/core/bytes.ts'
import { SecretKey } from '../../src/core/keys.ts'
import { agentEnv, endAtExit, memoryOf, PROGRAM, processorSecondsOf, type Started, startServer } from '../children.ts'
import { type ParkOrder } from '../park-order.ts'
import { Collector, OURS, type Row } from '../row.ts'

const PROCESSES = 2
/** All of them together, below the rate at which a broker refuses more from one address. */
const MEMBERS_PER_SECOND = 60
const SETTLE_MS = 5_000
/** Four signs of life of each member. */
const WATCH_MS = 60_000

export const parkedRow: Row = {
  name: 'parked',
  run: async ({ peers }) => {
    const [weights, loads] = [new Collector([OURS]), new Collector([OURS])]
    const broker = await startServer([PROGRAM, 'broker', '--listen', '127.0.0.1:0'], agentEnv('parked-broker'))
    try {
      const release = await park(broker, PROCESSES)
      await sleep(SETTLE_MS)
      const before = memoryOf(broker.pid)
      const releaseAll = await park(broker, peers - PROCESSES)
      await sleep(SETTLE_MS)
      weights.add(OURS, (memoryOf(broker.pid) - before) / 1_000 / (peers - PROCESSES))
      const secondsBefore = processorSecondsOf(broker.pid)
      await sleep(WATCH_MS)
      loads.add(OURS, ((processorSecondsOf(broker.pid) - secondsBefore) * 100_000) / WATCH_MS)
      release()
      releaseAll()
    } finally {
      await broker.stop()
    }
    return [
      {
        title: `a broker’s memory for each of ${peers} waiting members`,
        unit: 'kB',
        better: 'lower',
        goals: [],
        measured: weights.measured,
      },
      {
        title: `a broker’s processor time for ${peers} waiting members`,
        unit: '%',
        better: 'lower',
        goals: [],
        measured: loads.measured,
      },
    ]
  },
}

/** Resolves when they all wait. */
async function park(broker: Started, members: number): Promise<() => void> {
  const parsed = parseBroker(broker.firstLine)
  if ('problem' in parsed) throw new TypeError(parsed.problem)
  const share: ParkOrder = {
    broker: parsed.value,
    channel: toHex(SecretKey.generate().reveal()),
    members: Math.ceil(members / PROCESSES),
    perSecond: MEMBERS_PER_SECOND / PROCESSES,
  }
  const path = fileURLToPath(new URL('../parked-members.ts', import.meta.url))
  const children = Array.from({ length: PROCESSES }, () => fork(path, [JSON.stringify(share)]))
  for (const child of children) endAtExit(child)
  await Promise.all(
    children.map(async (child) => {
      const died = new AbortController()
      child.once('exit', (code) => died.abort(new Error(`a process of waiting members exited with ${code}`)))
      await once(child, 'message', { signal: died.signal })
    }),
  )
  return () => {
    for (const child of children) child.kill('SIGKILL')
  }
}
