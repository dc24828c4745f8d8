/**
 * Many peers that are connected and say nothing.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { memoryOf, processorSecondsOf, rivalPath, type Started, startServer } from '../children.ts'
import { createRawNode, LINES_PROTOCOL } from '../rivals/libp2p-node.ts'
import { Collector, OURS, type Row } from '../row.ts'
import { createCaller, openSession, serveAgent } from '../subjects/ct-agent.ts'

/** Below the rate at which an acceptor refuses more connections from one address. */
const PEERS_PER_SECOND = 60
const SETTLE_MS = 3_000
/** One whole round of the checks that idle sessions make. */
const WATCH_MS = 60_000

interface Crowd {
  readonly server: Started
  readonly connect: () => Promise<unknown>
  readonly close: () => Promise<void>
}

export const peersRow: Row = {
  name: 'peers',
  run: async ({ peers }) => {
    const crowds = { [OURS]: () => agentCrowd(peers), 'raw libp2p': rawCrowd }
    const [weights, loads] = [new Collector(Object.keys(crowds)), new Collector(Object.keys(crowds))]
    for (const [name, open] of Object.entries(crowds)) {
      const crowd = await open()
      await crowd.connect()
      await sleep(SETTLE_MS)
      const before = memoryOf(crowd.server.pid)
      for (let count = 1; count < peers; count += 1) {
        await Promise.all([crowd.connect(), sleep(1_000 / PEERS_PER_SECOND)])
      }
      await sleep(SETTLE_MS)
      weights.add(name, (memoryOf(crowd.server.pid) - before) / 1_000 / (peers - 1))
      const secondsBefore = processorSecondsOf(crowd.server.pid)
      await sleep(WATCH_MS)
      loads.add(name, ((processorSecondsOf(crowd.server.pid) - secondsBefore) * 100_000) / WATCH_MS)
      await crowd.close()
    }
    return [
      {
        title: `memory of each of ${peers} idle peers`,
        unit: 'kB',
        better: 'lower',
        goals: [{ kind: 'at most', value: 150 }],
        measured: weights.measured,
      },
      {
        title: `processor time for ${peers} idle peers`,
        unit: '%',
        better: 'lower',
        goals: [{ kind: 'at most', value: 3 }],
        measured: loads.measured,
      },
    ]
  },
}

async function agentCrowd(peers: number): Promise<Crowd> {
  const server = await serveAgent('peers', [
    '--concurrency',
    String(peers),
    '--peer-sessions',
    String(peers),
    '--idle',
    '0',
  ])
  const dialler = await createCaller()
  return {
    server,
    connect: () => openSession(dialler, server.firstLine),
    close: async () => {
      await dialler.close()
      await server.stop()
    },
  }
}

async function rawCrowd(): Promise<Crowd> {
  const server = await startServer([rivalPath('libp2p-server.ts')])
  const { address } = JSON.parse(server.firstLine) as { readonly address: string }
  const node = await createRawNode([])
  return {
    server,
    connect: async () => {
      const connection = await node.dial(multiaddr(address), { force: true })
      return connection.newStream(LINES_PROTOCOL)
    },
    close: async () => {
      await node.stop()
      await server.stop()
    },
  }
}
