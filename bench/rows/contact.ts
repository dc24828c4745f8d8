/**
 * First contact through a broker: how long two agents take that have never met, and how many round trips.
 *
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { formatTicket, parseTicket } from '../../src/channel/index.ts'
import { agentEnv, PROGRAM, type Started, startServer, timeRun } from '../children.ts'
import { type DelayProxy, freePort, openDelayProxy } from '../delay-proxy.ts'
import { Collector, type Figure, inRounds, OURS, type Row } from '../row.ts'
import { median } from '../statistics.ts'

const ROUND_TRIP_MS = 100
/** For the server to take its place at the relay. */
const SETTLE_MS = 2_000
const DIRECT = 'ct-agent, directly'
const BOTH_COLD = 'ct-agent, both started at once'
const WAYS = [OURS, DIRECT] as const
type Way = (typeof WAYS)[number]

export const contactRow: Row = {
  name: 'contact',
  run: async ({ rounds }) => {
    const far = await Promise.all([openDelayProxy(ROUND_TRIP_MS), openDelayProxy(ROUND_TRIP_MS)])
    const broker = await startServer([PROGRAM, 'broker', '--listen', '127.0.0.1:0'], agentEnv('contact-broker'))
    try {
      const servers = { [OURS]: await serveBehind(broker), [DIRECT]: await serveBeside(broker, far[1]) }
      far[0].lead(portIn(broker.firstLine))
      await sleep(SETTLE_MS)
      const figures = await measure(rounds, { broker, servers, far })
      for (const { stop } of Object.values(servers)) await stop()
      return figures
    } finally {
      for (const { close } of far) close()
      await broker.stop()
    }
  },
}

interface Field {
  readonly broker: Started
  readonly servers: Readonly<Record<Way, Started>>
  /** To the broker, and to the server that can be dialled. */
  readonly far: readonly [DelayProxy, DelayProxy]
}

async function measure(rounds: number, { broker, servers, far }: Field): Promise<readonly Figure[]> {
  const times = new Collector([...WAYS, BOTH_COLD])
  const trips = new Collector(WAYS)
  let trial = 0
  const callOnce = (ticket: string): Promise<number> => {
    trial += 1
    return timeRun(process.execPath, [PROGRAM, 'call', ticket, 'ping'], agentEnv(`contact-caller-${trial}`))
  }
  await inRounds(rounds, WAYS, async (way) => {
    const near = await callOnce(movedTicket(servers[way].firstLine, portIn(broker.firstLine)))
    times.add(way, near)
    const away = await callOnce(
      movedTicket(servers[way].firstLine, far[0].port, way === DIRECT ? far[1].port : undefined),
    )
    trips.add(way, (away - near) / ROUND_TRIP_MS)
  })
  for (let round = 0; round < rounds; round += 1) {
    const state = `contact-both-${round}`
    const known = await serveBehind(broker, state)
    await known.stop()
    const [time, server] = await Promise.all([callOnce(known.firstLine), serveBehind(broker, state)])
    times.add(BOTH_COLD, time)
    await server.stop()
  }
  return [
    {
      title: 'first contact through a broker, from start to exit',
      unit: 'ms',
      better: 'lower',
      goals: [],
      measured: times.measured,
      note: 'relayed, unless it says directly; the caller is new each time',
    },
    {
      title: `first contact through a broker ${ROUND_TRIP_MS} ms away`,
      unit: 'round trips',
      better: 'lower',
      goals: [{ kind: 'at most', value: 5 }],
      measured: trips.measured,
      note: `what the delay adds, in round trips, the TCP handshake included; median of ${median([rounds])} rounds`,
    },
  ]
}

/** A server that can be reached through the relay alone. */
function serveBehind(broker: Started, state = 'contact-behind'): Promise<Started> {
  return startServer([PROGRAM, 'serve', '--broker', broker.firstLine, '--relay-only'], agentEnv(state))
}

/** A server that can be dialled, at its own port or from far away. */
async function serveBeside(broker: Started, far: DelayProxy): Promise<Started> {
  const port = await freePort()
  far.lead(port)
  return startServer(
    [PROGRAM, 'serve', '--broker', broker.firstLine, '--listen', `127.0.0.1:${port}`],
    agentEnv('contact-beside'),
  )
}

/** The same ticket with the broker, and the server, at other ports. */
function movedTicket(text: string, brokerPort: number, serverPort?: number): string {
  const ticket = parseTicket(text)
  const { rendezvous, addresses } = ticket
  if (rendezvous === undefined) throw new TypeError('expected a ticket with a broker')
  return formatTicket({
    ...ticket,
    addresses: serverPort === undefined ? addresses : addresses.map((address) => ({ ...address, port: serverPort })),
    rendezvous: { ...rendezvous, broker: rendezvous.broker.map((place) => ({ ...place, port: brokerPort })) },
  })
}

function portIn(address: string): number {
  return Number(/\/tcp\/(\d+)/.exec(address)?.[1])
}
