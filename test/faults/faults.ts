/**
 * What goes wrong in a storm, and how it ends. Each fault is over by itself: nothing stays broken.
 *
 * @module
 */
import { pause, type Random, systemClock } from '../../src/core/time.ts'
import { type Agent } from '../e2e/agent.ts'
import { type Direction, type FaultProxy } from './fault-proxy.ts'
import { pick } from './seeded.ts'

/** What a storm lets its faults do. */
export interface Sky {
  readonly brokerPath: FaultProxy
  readonly serverPath: FaultProxy
  readonly process: (target: 'broker' | 'server' | 'caller', random: Random) => Agent
  readonly startBroker: () => Promise<void>
  /** At a new address each time. */
  readonly startServer: () => Promise<void>
}

/** What a fault takes out of order; no two faults at once do it to the same. */
export type Target = 'broker' | 'server' | 'caller' | 'way to the broker' | 'way to the server'

export interface Fault {
  readonly name: FaultName
  readonly target: Target
  /** What must be in order before. */
  readonly spoils?: readonly Target[]
  /** Resolves when it is over. */
  readonly happen: (sky: Sky, how: { readonly random: Random; readonly lastsMs: number }) => Promise<void>
}

export type FaultName =
  | 'broker killed'
  | 'broker stopped'
  | 'server killed, back at another address'
  | 'server stopped'
  | 'caller stopped'
  | `way to the ${'broker' | 'server'} ${'reset' | 'held' | 'lost' | 'shut'}`

const WAYS: readonly (readonly Direction[])[] = [['out'], ['in'], ['out', 'in']]

/** All that can happen, the more often the more likely. */
export const FAULTS: readonly Fault[] = [
  {
    name: 'broker killed',
    target: 'broker',
    happen: async (sky, { random, lastsMs }) => {
      await sky.process('broker', random).kill()
      await pause(systemClock, lastsMs)
      await sky.startBroker()
    },
  },
  {
    name: 'server killed, back at another address',
    target: 'server',
    spoils: ['way to the server'],
    happen: async (sky, { random, lastsMs }) => {
      await sky.process('server', random).kill()
      await pause(systemClock, lastsMs)
      await sky.startServer()
    },
  },
  stopped('broker'),
  stopped('server'),
  stopped('caller'),
  ...loud('broker'),
  ...loud('server'),
  ...[stopped('broker'), stopped('server'), stopped('caller'), ...loud('broker'), ...loud('server')],
  // Nobody is told, and everybody has to wait until it is long enough to be sure.
  lost('broker'),
  lost('server'),
]

function pathOf(sky: Sky, end: 'broker' | 'server'): FaultProxy {
  return end === 'broker' ? sky.brokerPath : sky.serverPath
}

function stopped(target: 'broker' | 'server' | 'caller'): Fault {
  return {
    name: `${target} stopped`,
    target,
    happen: async (sky, { random, lastsMs }) => {
      const victim = sky.process(target, random)
      victim.signal('SIGSTOP')
      await pause(systemClock, lastsMs)
      victim.signal('SIGCONT')
    },
  }
}

function lost(end: 'broker' | 'server'): Fault {
  const target = `way to the ${end}` as const
  return {
    name: `${target} lost`,
    target,
    happen: async (sky, { random }) => pathOf(sky, end).lose(pick(random, WAYS)),
  }
}

function loud(end: 'broker' | 'server'): readonly Fault[] {
  const target = `way to the ${end}` as const
  return [
    { name: `${target} reset`, target, happen: async (sky) => pathOf(sky, end).reset() },
    {
      name: `${target} held`,
      target,
      happen: async (sky, { random, lastsMs }) => {
        const path = pathOf(sky, end)
        path.hold(pick(random, WAYS))
        await pause(systemClock, lastsMs)
        path.release()
      },
    },
    {
      name: `${target} shut`,
      target,
      happen: async (sky, { lastsMs }) => {
        const path = pathOf(sky, end)
        path.shut(true)
        await pause(systemClock, lastsMs)
        path.shut(false)
      },
    },
  ]
}
