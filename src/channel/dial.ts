/**
 * Opens a session to a serving member.
 *
 * Holds: nothing but a refusal is ever sent to a peer whose keys are not the pinned ones.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { type Multiaddr } from '@multiformats/multiaddr'
import { CtError, toCtError } from '../core/errors.ts'
import { type HolderId } from '../core/ids.ts'
import { type SecretKey } from '../core/keys.ts'
import { abortable, type Clock } from '../core/time.ts'
import { type Address, formatAddress } from './address.ts'
import { checkPins, type TrustPolicy } from './admission.ts'
import { encodeFrame, FRAME } from './frame.ts'
import { encodeBye } from './hello.ts'
import { type ChannelNode, createNode, holderOf, peerIdOf, SESSION_PROTOCOL, stopNode } from './node.ts'
import { describe, type SelfDescription } from './self.ts'
import { Session } from './session.ts'
import { streamWire } from './stream-wire.ts'
import { ticketProof } from './ticket.ts'
import { resolveAddress } from './transport-address.ts'

/** What is known of the member to call. */
export interface Target {
  readonly addresses: readonly Address[]
  /** Pins: at least one kind is needed, or the call could reach anybody. */
  readonly trust: Pick<TrustPolicy, 'holders' | 'noiseKeys'>
  /** Secret of the ticket the member gave out. */
  readonly ticketSecret?: SecretKey
}

export interface Dialler {
  /**
   * Connects; messages may be sent at once, before the peer has admitted us. A refusal ends the session.
   *
   * @throws {CtError} `ERR_PEER_UNREACHABLE`, `ERR_PEER_KEY_MISMATCH`, `ERR_PROTOCOL`
   */
  readonly open: (target: Target, signal: AbortSignal) => Promise<Session>
  readonly close: () => Promise<void>
}

export async function createDialler(self: SelfDescription, clock: Clock): Promise<Dialler> {
  const node = await createNode({ holder: self.holder, noise: self.noise, listen: [], maxSessions: MAX_SESSIONS })
  await node.libp2p.start()
  const context: DialContext = { node, turns: new Map(), self, clock }
  return {
    open: (target, signal) => openAny(context, target, signal),
    close: () => stopNode(node.libp2p, clock),
  }
}

interface DialContext {
  readonly node: ChannelNode
  /** Dials under way, by what libp2p would join them by. */
  readonly turns: Map<string, Promise<unknown>>
  readonly self: SelfDescription
  readonly clock: Clock
}

/** Peers one process calls at once. */
const MAX_SESSIONS = 1_024
const REFUSAL_FLUSH_MS = 1_000

async function openAny(context: DialContext, target: Target, signal: AbortSignal): Promise<Session> {
  const { holders, noiseKeys } = target.trust
  if (holders === undefined && noiseKeys === undefined) throw new TypeError('expected a pinned key, found none')
  if (holders?.size === 1 && holders.has(context.self.holder.id)) {
    throw new CtError('ERR_PEER_KEY_MISMATCH', 'expected the key of a peer, found the own key of this member')
  }
  const failures: CtError[] = []
  for (const address of target.addresses) {
    for (const transport of await resolvable(address, failures, signal)) {
      try {
        return await openSession(context, await connect(context, withPeer(transport, holders), signal), target, signal)
      } catch (error) {
        if (signal.aborted) throw toCtError(signal.reason, 'ERR_CALL_CANCELLED')
        failures.push(dialFailure(address, error))
      }
    }
  }
  throw summary(failures)
}

// Wherever an address did not answer, the right peer may still be; else what the others said is the reason.
function summary(failures: readonly CtError[]): CtError {
  const [first] = failures
  const definite = failures.every((failure) => !failure.facts.retryable)
  if (first !== undefined && definite) return first
  return new CtError(
    'ERR_PEER_UNREACHABLE',
    `no address answered (${failures.map(({ message }) => message).join('; ')})`,
  )
}

async function resolvable(address: Address, failures: CtError[], signal: AbortSignal): Promise<readonly Multiaddr[]> {
  try {
    return await resolveAddress(address, signal)
  } catch (error) {
    if (signal.aborted) throw toCtError(signal.reason, 'ERR_CALL_CANCELLED')
    failures.push(toCtError(error))
    return []
  }
}

// One after another for one peer or address: libp2p gives parallel dials one connection, and each session has its own.
function connect({ node, turns }: DialContext, transport: Multiaddr, signal: AbortSignal): Promise<Connection> {
  const key = /\/p2p\/.*$/.exec(transport.toString())?.[0] ?? transport.toString()
  const dial = async (): Promise<Connection> => {
    signal.throwIfAborted()
    const connection = await node.libp2p.dial(transport, { signal, force: true })
    if (signal.aborted) connection.abort(toCtError(signal.reason))
    return connection
  }
  const turn = (turns.get(key) ?? Promise.resolve()).then(dial)
  const over = turn.then(
    () => {},
    () => {},
  )
  turns.set(key, over)
  void over.then(() => {
    if (turns.get(key) === over) turns.delete(key)
  })
  return abortable(turn, signal)
}

// With one holder pinned, the handshake itself refuses any other key.
function withPeer(transport: Multiaddr, holders: ReadonlySet<HolderId> | undefined): Multiaddr {
  const [only] = holders ?? []
  return holders?.size === 1 && only !== undefined
    ? transport.encapsulate(`/p2p/${peerIdOf(only).toString()}`)
    : transport
}

async function openSession(
  { node, self, clock }: DialContext,
  connection: Connection,
  target: Target,
  signal: AbortSignal,
): Promise<Session> {
  const holder = pinnedHolder(node, connection, target.trust)
  if (holder instanceof CtError) {
    await refuse(connection, holder)
    throw holder
  }
  const wire = streamWire(await openStream(connection, signal), connection)
  const proof = target.ticketSecret === undefined ? undefined : ticketProof(target.ticketSecret, self.holder.id, holder)
  return new Session(wire, {
    peer: holder,
    local: describe(self, proof),
    greetsFirst: true,
    admit: () => undefined,
    clock,
  })
}

/** The peer's key when it is a pinned one, or why it is not. */
function pinnedHolder({ noiseKeys }: ChannelNode, connection: Connection, trust: Target['trust']): HolderId | CtError {
  const holder = holderOf(connection.remotePeer)
  if (holder === undefined) return new CtError('ERR_PEER_KEY_MISMATCH', 'expected a peer with an Ed25519 key')
  const problem = checkPins(trust, { holder, noiseKeys: noiseKeys.keysOf(connection) })
  return problem === undefined ? holder : new CtError('ERR_PEER_KEY_MISMATCH', problem.message)
}

async function openStream(connection: Connection, signal: AbortSignal): Promise<Stream> {
  try {
    return await connection.newStream(SESSION_PROTOCOL, { signal, runOnLimitedConnection: true })
  } catch (error) {
    connection.abort(toCtError(error))
    throw error
  }
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

function dialFailure(address: Address, error: unknown): CtError {
  if (error instanceof CtError) return error
  const where = formatAddress(address)
  const text = error instanceof Error ? `${error.name} ${error.message}` : String(error)
  if (/does not match expected remote identity key|UnexpectedPeer/.test(text)) {
    const message = `another key than the expected one answers at ${where}`
    return new CtError('ERR_PEER_KEY_MISMATCH', message, { cause: error })
  }
  if (/UnsupportedProtocol/.test(text)) {
    const message = `the peer at ${where} does not speak the session protocol of ct-agent`
    return new CtError('ERR_PROTOCOL', message, { cause: error })
  }
  return new CtError('ERR_PEER_UNREACHABLE', `${where}: ${dialProblem(text)}`, { cause: error })
}

function dialProblem(text: string): string {
  return /ECONNREFUSED/.test(text)
    ? 'connection refused'
    : /timed? ?out|TimeoutError/i.test(text)
      ? 'no answer in time'
      : text
}
