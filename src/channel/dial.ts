/**
 * Opens a session to a serving member.
 *
 * Holds: nothing but a refusal is ever sent to a peer whose keys are not the pinned ones.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { type Multiaddr } from '@multiformats/multiaddr'
import { CtError, toCtError } from '../core/errors.ts'
import { type HolderId } from '../core/ids.ts'
import { type SecretKey } from '../core/keys.ts'
import { type Clock } from '../core/time.ts'
import { type Address, formatAddress } from './address.ts'
import { checkPins, type TrustPolicy } from './admission.ts'
import { encodeFrame, FRAME } from './frame.ts'
import { encodeBye } from './hello.ts'
import { type ChannelNode, createNode, holderOf, peerIdOf, SESSION_PROTOCOL } from './node.ts'
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
  return {
    open: async (target, signal) => {
      const connection = await connect(node, target, signal)
      return openSession(node, connection, { self, clock, target, signal })
    },
    close: async () => {
      await node.libp2p.stop()
    },
  }
}

/** Peers one process calls at once. */
const MAX_SESSIONS = 1_024
const REFUSAL_FLUSH_MS = 1_000

async function connect(node: ChannelNode, { addresses, trust }: Target, signal: AbortSignal): Promise<Connection> {
  const failures: string[] = []
  for (const address of addresses) {
    for (const transport of await resolvable(address, failures)) {
      try {
        return await node.libp2p.dial(withPeer(transport, trust.holders), { signal, force: true })
      } catch (error) {
        if (signal.aborted) throw toCtError(signal.reason, 'ERR_CALL_CANCELLED')
        failures.push(`${formatAddress(address)}: ${dialProblem(error)}`)
        if (isWrongPeer(error)) throw wrongPeer(address, error)
      }
    }
  }
  throw new CtError('ERR_PEER_UNREACHABLE', `no address answered (${failures.join('; ')})`)
}

async function resolvable(address: Address, failures: string[]): Promise<readonly Multiaddr[]> {
  try {
    return await resolveAddress(address)
  } catch (error) {
    failures.push(toCtError(error).message)
    return []
  }
}

// With one holder pinned, the handshake itself refuses any other key.
function withPeer(transport: Multiaddr, holders: ReadonlySet<HolderId> | undefined): Multiaddr {
  const [only] = holders ?? []
  return holders?.size === 1 && only !== undefined
    ? transport.encapsulate(`/p2p/${peerIdOf(only).toString()}`)
    : transport
}

interface OpenOptions {
  readonly self: SelfDescription
  readonly clock: Clock
  readonly target: Target
  readonly signal: AbortSignal
}

async function openSession(
  node: ChannelNode,
  connection: Connection,
  { self, clock, target, signal }: OpenOptions,
): Promise<Session> {
  const holder = holderOf(connection.remotePeer)
  const noiseKeys = node.noiseKeys.keysOf(connection.remoteAddr.toString())
  const stream = await connection
    .newStream(SESSION_PROTOCOL, { signal, runOnLimitedConnection: true })
    .catch((error: unknown) => {
      connection.abort(toCtError(error))
      throw new CtError('ERR_PROTOCOL', 'the peer does not speak the session protocol of ct-agent', { cause: error })
    })
  const wire = streamWire(stream, connection)
  const mismatch =
    holder === undefined
      ? new CtError('ERR_PEER_REFUSED', 'expected a peer with an Ed25519 key')
      : checkPins(target.trust, { holder, noiseKeys })
  if (mismatch !== undefined || holder === undefined) {
    const error = new CtError('ERR_PEER_KEY_MISMATCH', mismatch?.message ?? 'unknown key')
    wire.write([
      encodeFrame(FRAME.bye, encodeBye({ code: error.code, reason: 'the caller expected another key', final: true })),
    ])
    await wire.finish(AbortSignal.timeout(REFUSAL_FLUSH_MS))
    throw error
  }
  const proof = target.ticketSecret === undefined ? undefined : ticketProof(target.ticketSecret, self.holder.id, holder)
  return new Session(wire, {
    peer: holder,
    local: describe(self, proof),
    greetsFirst: true,
    admit: () => undefined,
    clock,
  })
}

function dialProblem(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return /ECONNREFUSED/.test(text)
    ? 'connection refused'
    : /timed? ?out|TimeoutError/i.test(text)
      ? 'no answer in time'
      : text
}

function isWrongPeer(error: unknown): boolean {
  return (
    error instanceof Error &&
    /does not match expected remote identity key|UnexpectedPeer/.test(`${error.name} ${error.message}`)
  )
}

function wrongPeer(address: Address, cause: unknown): CtError {
  return new CtError(
    'ERR_PEER_KEY_MISMATCH',
    `another key than the expected one answers at ${formatAddress(address)}`,
    { cause },
  )
}
