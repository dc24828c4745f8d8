/**
 * Sessions over wires in memory.
 *
 * @module
 */
import { type Hello, type SessionMode } from '../../src/channel/session/hello.ts'
import { Session } from '../../src/channel/session/session.ts'
import { type SessionOptions } from '../../src/channel/session/session-options.ts'
import { type HolderId, type InstanceId } from '../../src/core/ids.ts'
import { FakeClock } from '../mcp/fake-clock.ts'
import { linkedWires, TestWire } from './test-wire.ts'

const PEER = 'aa'.repeat(32) as HolderId
const RUNS = { call: '0c', serve: '05', pipe: '0d' }

export function helloOf(mode: SessionMode, changes: Partial<Hello> = {}): Hello {
  return {
    version: 1,
    mode,
    run: RUNS[mode].repeat(16) as InstanceId,
    limits: { messageBytes: 1_048_576, inFlight: 64, idleSeconds: 0 },
    agent: 'test',
    ...changes,
  }
}

export interface PairOptions {
  readonly call?: Partial<Hello>
  readonly serve?: Partial<Hello>
  readonly admit?: SessionOptions['admit']
}

/** A calling and a serving session on one link, each with a clock of its own. */
export function pair({ call, serve, admit = () => undefined }: PairOptions = {}) {
  const [callerWire, serverWire] = linkedWires()
  const [callerClock, serverClock] = [new FakeClock(), new FakeClock()]
  const server = new Session(serverWire, {
    peer: PEER,
    local: helloOf('serve', serve),
    greetsFirst: false,
    admit,
    clock: bound(serverClock),
  })
  const caller = new Session(callerWire, {
    peer: PEER,
    local: helloOf('call', call),
    greetsFirst: true,
    admit: () => undefined,
    clock: bound(callerClock),
  })
  return { caller, server, callerWire, serverWire, callerClock, serverClock }
}

/** One session, whose peer is the test. */
export function raw(mode: SessionMode, changes: Partial<Hello> = {}) {
  const wire = new TestWire()
  const clock = new FakeClock()
  const session = new Session(wire, {
    peer: PEER,
    local: helloOf(mode, changes),
    greetsFirst: mode !== 'serve',
    admit: () => undefined,
    clock: bound(clock),
  })
  return { session, wire, clock }
}

/** Texts that the session delivers from now on. */
export function textsAt(session: Session): string[] {
  const texts: string[] = []
  session.receive((message) => {
    texts.push(message.kind === 'text' ? Buffer.from(message.bytes).toString() : message.kind)
  })
  return texts
}

function bound(clock: FakeClock): FakeClock {
  clock.monotonic = clock.monotonic.bind(clock)
  return clock
}
