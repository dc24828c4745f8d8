/**
 * A session on a connection that is there.
 *
 * Holds: nothing but a refusal is ever sent to a peer whose keys are not the pinned ones.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { CtError, isCtError, toCtError } from '../../core/errors.ts'
import { type SecretKey } from '../../core/keys.ts'
import { abortable, type Clock } from '../../core/time.ts'
import { unixSeconds } from '../../core/u64.ts'
import { type Address, formatAddress } from '../address.ts'
import { checkMembership, checkPins, type ProvenKeys, type TrustPolicy } from '../admission.ts'
import { type KnownRevocations } from '../membership/known-revocations.ts'
import { type ChannelNode, holderOf, SESSION_PROTOCOL } from '../node/node.ts'
import { addressOf } from '../node/transport-address.ts'
import { encodeFrame, FRAME } from '../session/frame.ts'
import { encodeBye } from '../session/hello.ts'
import { describe, type SelfDescription } from '../session/self.ts'
import { Session } from '../session/session.ts'
import { streamWire } from '../session/stream-wire.ts'
import { ticketProof } from '../ticket.ts'
import { dialFailure } from './dial-failure.ts'

/** Whom to expect at the far end. */
export interface Expectation {
  /** Pins or a channel: at least one kind is needed, or the call could reach anybody; every kind given must be met. */
  readonly trust: Pick<TrustPolicy, 'holders' | 'noiseKeys' | 'channel'>
  /** Secret of the ticket the member gave out. */
  readonly ticketSecret?: SecretKey
}

/** What is known of the member to call. */
export interface Target extends Expectation {
  /** Best first; through a broker none is needed. */
  readonly addresses: readonly Address[]
}

/** Who opens. */
export interface Opener {
  readonly node: Pick<ChannelNode, 'noiseKeys' | 'dial' | 'punched'>
  readonly self: SelfDescription
  readonly clock: Clock
  /** Whom the operator of the channel removed. */
  readonly revocations?: KnownRevocations | undefined
}

const REFUSAL_FLUSH_MS = 1_000

/** The peer's keys when they are pinned ones. @throws {CtError} `ERR_PEER_KEY_MISMATCH`, after the peer was told */
export async function provenKeys(
  node: Opener['node'],
  connection: Connection,
  trust: Expectation['trust'],
): Promise<ProvenKeys> {
  const proven = pinnedKeys(node, connection, trust)
  if (!(proven instanceof CtError)) return proven
  await refuse(connection, proven)
  throw proven
}

export async function openSession(
  { node, self, clock, revocations }: Opener,
  connection: Connection,
  target: Expectation,
  signal: AbortSignal,
): Promise<Session> {
  const { trust } = target
  const proven = await provenKeys(node, connection, trust)
  const { holder } = proven
  const wire = streamWire(await openStream(connection, signal), connection, node.punched.has(connection))
  const proof = target.ticketSecret === undefined ? undefined : ticketProof(target.ticketSecret, self.holder.id, holder)
  return new Session(wire, {
    peer: holder,
    local: describe(self, proof, revocations?.shown),
    greetsFirst: true,
    admit: (hello) =>
      trust.channel &&
      checkMembership(trust.channel, proven, hello, {
        side: 'accept',
        now: unixSeconds(clock),
        revocations,
        successions: revocations?.successions,
      }),
    holdsBack: trust.channel !== undefined,
    clock,
  })
}

/** What says that a way leads to no peer that answers; anything else is the peer's word. */
const NO_ANSWER = ['ERR_LINK_LOST', 'ERR_PEER_UNRESPONSIVE', 'ERR_PEER_SLOW', 'ERR_PROTOCOL', 'ERR_TIMEOUT'] as const

/**
 * Resolves when the peer has answered the hello, be it with a refusal, which is then the session's to tell.
 *
 * @throws {CtError} why no answer came; the signal's reason
 */
export async function answered(session: Session, signal: AbortSignal): Promise<void> {
  const word = session.ready.then(
    () => {},
    (error: unknown) => {
      if (isCtError(error, ...NO_ANSWER)) throw error
    },
  )
  await abortable(word, signal)
}

/** The peer's keys when they are pinned ones, or why they are not. */
function pinnedKeys(
  { noiseKeys }: Opener['node'],
  connection: Connection,
  trust: Expectation['trust'],
): ProvenKeys | CtError {
  const holder = holderOf(connection.remotePeer)
  if (holder === undefined) return new CtError('ERR_PEER_KEY_MISMATCH', 'expected a peer with an Ed25519 key')
  const proven = { holder, noiseKeys: noiseKeys.keysOf(connection) }
  const problem = checkPins(trust, proven)
  return problem === undefined ? proven : new CtError('ERR_PEER_KEY_MISMATCH', problem.message)
}

async function openStream(connection: Connection, signal: AbortSignal): Promise<Stream> {
  try {
    return await connection.newStream(SESSION_PROTOCOL, { signal, runOnLimitedConnection: true })
  } catch (error) {
    connection.abort(toCtError(error))
    if (signal.aborted) throw toCtError(signal.reason, 'ERR_CALL_CANCELLED')
    throw dialFailure(placeOf(connection), error)
  }
}

function placeOf({ remoteAddr }: Connection): string {
  const address = addressOf(remoteAddr)
  if (address === undefined || remoteAddr.toString().includes('/p2p-circuit')) return 'the far end of the relay'
  return formatAddress(address)
}

/** Tells the wrong peer why it is left, as far as it listens. */
async function refuse(connection: Connection, { code }: CtError): Promise<void> {
  const signal = AbortSignal.timeout(REFUSAL_FLUSH_MS)
  const bye = encodeBye({ code, reason: 'the caller expected another key', final: true })
  try {
    const wire = streamWire(await openStream(connection, signal), connection)
    wire.write([encodeFrame(FRAME.bye, bye)])
    await wire.finish(signal)
  } catch {
    // What it makes of the refusal changes nothing.
  }
}
