/**
 * Members on loopback for tests: whatever is opened here is closed by `closeAll`.
 *
 * @module
 */
import { type Address } from '../../src/channel/address.ts'
import { type TrustPolicy } from '../../src/channel/admission.ts'
import { createDialler, type Dialler } from '../../src/channel/dialling/dial.ts'
import { type Target } from '../../src/channel/dialling/opening.ts'
import { type Listener, type ListenOptions, listen } from '../../src/channel/listening/listen.ts'
import { type SessionMode } from '../../src/channel/session/hello.ts'
import { type SelfDescription } from '../../src/channel/session/self.ts'
import { type Session } from '../../src/channel/session/session.ts'
import { CtError } from '../../src/core/errors.ts'
import { generateInstanceId, holderKey, noiseKey, SecretKey } from '../../src/core/keys.ts'
import { systemClock } from '../../src/core/time.ts'
import { silentLog } from '../silent-log.ts'

const closers: (() => Promise<void>)[] = []
const SHUTDOWN = new CtError('ERR_PEER_SHUTDOWN', 'the test is over')

export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close()
}

/** Closed by `closeAll`. */
export function closing(close: () => Promise<void>): void {
  closers.push(close)
}

export function member(mode: SessionMode, limits: Partial<SelfDescription['limits']> = {}): SelfDescription {
  return {
    holder: holderKey(SecretKey.generate()),
    noise: noiseKey(SecretKey.generate()),
    run: generateInstanceId(),
    agent: 'test',
    mode,
    limits: { messageBytes: 1_048_576, inFlight: 64, idleSeconds: 300, ...limits },
  }
}

export interface Serving {
  readonly self: SelfDescription
  readonly listener: Listener
  readonly address: Address
  /** Sessions that were handed over, in order. */
  readonly sessions: Session[]
  /** The next session that is handed over. */
  readonly next: () => Promise<Session>
}

export async function serve(options: Pick<ListenOptions, 'trust'> & Partial<ListenOptions>): Promise<Serving> {
  const self = options.self ?? member('serve')
  const sessions: Session[] = []
  const waiting: ((session: Session) => void)[] = []
  const listener = await listen({
    listen: [{ host: '127.0.0.1', port: 0 }],
    maxSessions: 8,
    clock: systemClock,
    log: silentLog,
    onSession: (session) => {
      sessions.push(session)
      waiting.shift()?.(session)
    },
    ...options,
    self,
  })
  closing(() => listener.close(SHUTDOWN))
  const [address] = listener.addresses
  if (address === undefined) throw new TypeError('a listener has an address')
  return {
    self,
    listener,
    address,
    sessions,
    next: () => new Promise((resolve) => waiting.push(resolve)),
  }
}

export async function dialler(self: SelfDescription, clock = systemClock): Promise<Dialler> {
  const made = await createDialler(self, clock)
  closing(() => made.close())
  return made
}

/** Opens a session from a new dialler of `self`, without waiting until it is admitted. */
export async function open(
  self: SelfDescription,
  target: Target,
  signal = AbortSignal.timeout(10_000),
): Promise<Session> {
  return (await dialler(self)).open(target, signal)
}

/** Trust in these members, by holder key. */
export function holders(...members: readonly SelfDescription[]): Pick<TrustPolicy, 'holders'> {
  return { holders: new Set(members.map(({ holder }) => holder.id)) }
}

/** Trust in these members, by Noise key. */
export function noiseKeys(...members: readonly SelfDescription[]): Pick<TrustPolicy, 'noiseKeys'> {
  return { noiseKeys: new Set(members.map(({ noise }) => noise.id)) }
}

/** Sends one text and gives back what the other end of the session gets. */
export async function exchange(from: Session, to: Session, text: string): Promise<string> {
  const arrived = new Promise<string>((resolve) => {
    to.receive((message) => resolve(message.kind === 'text' ? Buffer.from(message.bytes).toString() : 'oversize'))
  })
  await from.send({ text })
  return arrived
}
