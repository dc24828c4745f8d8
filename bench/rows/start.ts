/**
 * What a person at a shell waits for: the program's start, one call, a server that listens.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { agentEnv, memoryOf, PROGRAM, rivalPath, startServer, timeRun } from '../children.ts'
import { Collector, inRounds, OURS, type Row } from '../row.ts'
import { serveAgent } from '../subjects/ct-agent.ts'

/** Time for a server to come to rest before it is weighed. */
const SETTLE_MS = 1_500
const node = process.execPath

export const versionRow: Row = {
  name: 'version',
  run: async ({ rounds }) => {
    const commands = {
      [OURS]: [PROGRAM, '--version'],
      'node alone': ['-e', '0'],
    }
    const times = new Collector(Object.keys(commands))
    await inRounds(rounds * 3, Object.entries(commands), async ([name, args]) => {
      times.add(name, await timeRun(node, args, agentEnv('version')))
    })
    return [
      {
        title: 'ct-agent --version',
        unit: 'ms',
        better: 'lower',
        goals: [{ kind: 'at most', value: 80 }],
        measured: times.measured,
      },
    ]
  },
}

export const oneShotRow: Row = {
  name: 'once',
  run: async ({ rounds }) => {
    const server = await serveAgent('once-server')
    const commands = {
      [OURS]: [PROGRAM, 'call', server.firstLine, 'ping'],
      'MCP SDK stdio': [rivalPath('mcp-one-shot.ts')],
    }
    const times = new Collector(Object.keys(commands))
    await inRounds(rounds * 2, Object.entries(commands), async ([name, args]) => {
      times.add(name, await timeRun(node, args, agentEnv('once-caller')))
    })
    await server.stop()
    return [
      {
        title: 'one call from start to exit',
        unit: 'ms',
        better: 'lower',
        goals: [{ kind: 'at most', value: 250 }],
        measured: times.measured,
        note: 'the stdio rival also starts its server, as its users do',
      },
    ]
  },
}

export const serveRow: Row = {
  name: 'serve',
  run: async ({ rounds }) => {
    const starts = {
      [OURS]: () => serveAgent('serve'),
      'raw libp2p': () => startServer([rivalPath('libp2p-server.ts')]),
      'MCP SDK HTTP': () => startServer([rivalPath('mcp-http-server.ts')]),
    }
    const [times, weights] = [new Collector(Object.keys(starts)), new Collector(Object.keys(starts))]
    await inRounds(rounds, Object.entries(starts), async ([name, start]) => {
      const server = await start()
      times.add(name, server.milliseconds)
      await sleep(SETTLE_MS)
      weights.add(name, memoryOf(server.pid) / 1_000_000)
      await server.stop()
    })
    return [
      {
        title: 'spawn to listening',
        unit: 'ms',
        better: 'lower',
        goals: [{ kind: 'at most', value: 150 }],
        measured: times.measured,
      },
      {
        title: 'memory of an idle server',
        unit: 'MB',
        better: 'lower',
        goals: [{ kind: 'at most', value: 75 }],
        measured: weights.measured,
      },
    ]
  },
}
