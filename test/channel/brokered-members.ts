/**
 * Members in this process that meet at a broker in this process: whatever is opened here is closed by `closeAll`.
 *
 * @module
 */
import { connect, createServer, type Socket } from 'node:net'
import { expect } from 'vitest'
import { type Address } from '../../src/channel/address.ts'
import { type Broker } from '../../src/channel/broker/index.ts'
import { parseBroker } from '../../src/channel/broker-address.ts'
import { type BrokerOptions } from '../../src/channel/broker-options.ts'
import { createDialler, type Dialler } from '../../src/channel/dialling/dial.ts'
import { type SelfDescription } from '../../src/channel/session/self.ts'
import { type Session } from '../../src/channel/session/session.ts'
import { systemClock } from '../../src/core/time.ts'
import { CHANNEL, credentialsOf, OPERATOR } from './broker/raw-member.ts'
import { listening } from './cutting-proxy.ts'
import { closing, member, type Serving, serve } from './members.ts'

type State = Parameters<BrokerOptions['onState']>[0]

export const TRUST = { channel: { operator: OPERATOR.id, channel: CHANNEL } }
export const LOOPBACK: readonly Address[] = [{ host: '127.0.0.1', port: 0 }]

export function placesOf(broker: Pick<Broker, 'ticketLine'>): BrokerOptions['broker'] {
  return broker.ticketLine.split(',').flatMap((text) => {
    const parsed = parseBroker(text)
    return 'value' in parsed ? [parsed.value] : []
  })
}

function optionsOf(
  broker: Pick<Broker, 'ticketLine'>,
  states: State[],
  more: Partial<BrokerOptions> = {},
): BrokerOptions {
  return {
    broker: placesOf(broker),
    relay: [],
    operator: OPERATOR.id,
    channel: CHANNEL,
    relayOnly: false,
    random: Math.random,
    onState: (state) => states.push(state),
    ...more,
  }
}

export function showing(self: SelfDescription): SelfDescription {
  const credentials = credentialsOf(self)
  return { ...self, credentials: () => credentials }
}

export interface Accepting extends Serving {
  readonly states: State[]
}

export async function accept(
  broker: Pick<Broker, 'ticketLine'>,
  {
    listen = [],
    self = member('serve'),
    ...more
  }: Partial<BrokerOptions> & { listen?: readonly Address[]; self?: SelfDescription } = {},
): Promise<Accepting> {
  const states: State[] = []
  const options = { self: showing(self), trust: TRUST, listen, broker: optionsOf(broker, states, more) }
  const serving = await serve({ ...options, listen: listen.length === 0 ? LOOPBACK : listen })
  return { ...serving, states }
}

export async function has(states: readonly State[], kind: State['kind']): Promise<void> {
  await expect.poll(() => states.some((state) => state.kind === kind), { timeout: 10_000 }).toBe(true)
}

export interface Calling {
  readonly dialler: Dialler
  readonly states: State[]
  readonly open: (trust?: Parameters<Dialler['open']>[0]['trust']) => Promise<Session>
  /** The ways of the sessions so far. */
  readonly ways: () => readonly string[]
}

export async function call(broker: Pick<Broker, 'ticketLine'>, more: Partial<BrokerOptions> = {}): Promise<Calling> {
  const states: State[] = []
  const dialler = await createDialler(showing(member('call')), systemClock, optionsOf(broker, states, more))
  closing(() => dialler.close())
  return {
    dialler,
    states,
    open: async (trust = TRUST) => {
      const session = await dialler.open({ addresses: [], trust }, AbortSignal.timeout(10_000))
      await session.ready
      return session
    },
    ways: () => states.flatMap((state) => (state.kind === 'way' ? [state.way] : [])),
  }
}

/** A way to a listener that can be shut. */
export async function startPath() {
  const sockets = new Set<Socket>()
  let target = 0
  let isBlocked = false
  const server = createServer((near) => {
    if (isBlocked) {
      near.resetAndDestroy()
      return
    }
    const far = connect(target, '127.0.0.1')
    near.pipe(far)
    far.pipe(near)
    for (const socket of [near, far]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => sockets.delete(socket))
    }
  })
  const port = await listening(server)
  const cut = (): void => {
    for (const socket of sockets) socket.resetAndDestroy()
  }
  closing(async () => {
    cut()
    await new Promise((resolve) => server.close(resolve))
  })
  return {
    address: { host: '127.0.0.1', port },
    lead: (address: Address): void => {
      target = address.port
    },
    /** What is on its way, and what comes, is kept from now on, without a word. */
    stall: (): void => {
      for (const socket of sockets) {
        socket.unpipe()
        socket.pause()
      }
    },
    block: (blocked: boolean): void => {
      isBlocked = blocked
      if (blocked) cut()
    },
  }
}
