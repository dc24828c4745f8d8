/**
 * How an operator, who need not be a member, brings its revocation list to a broker.
 *
 * Holds: it ends in {@link PUBLISH_TIMEOUT_MS}, whatever the broker does, and well only when the broker says that it has
 * the list. What the broker has is taken for the operator's own only with the operator's signature.
 *
 * @module
 */
import { type Connection } from '@libp2p/interface'
import { type Verified } from '../../core/artefact.ts'
import { CtError, isCtError, toCtError } from '../../core/errors.ts'
import { type ChannelId, type HolderId } from '../../core/ids.ts'
import { type HolderKey, noiseKey, SecretKey } from '../../core/keys.ts'
import { type Clock } from '../../core/time.ts'
import { type BrokerPlace } from '../broker-address.ts'
import { webSocketTo } from '../broker-options.ts'
import { BrokerLink } from '../dialling/broker-link.ts'
import { KnownRevocations } from '../membership/known-revocations.ts'
import { type RevocationList } from '../membership/revocations.ts'
import { type SignedSuccession } from '../membership/succession.ts'
import { createNode, stopNode } from '../node/node.ts'
import { isUnspoken } from '../node/optimistic-select.ts'
import { encodeRendezvousFrame, RendezvousReader } from './framing.ts'
import {
  encodeFromMember,
  type FromBroker,
  type FromMember,
  MAX_LIST_MESSAGE_BYTES,
  type Noted,
  parseFromBroker,
  RENDEZVOUS_PROTOCOL,
} from './messages.ts'
import { noBroker } from './refused.ts'

export const PUBLISH_TIMEOUT_MS = 10_000
const CLOSE_TIMEOUT_MS = 1_000

export interface PublishOptions {
  /** Who publishes, and is shown to be: the operator, by the first key or one that took over. */
  readonly identity: HolderKey
  /** The operator’s first key, by which its channel is known. */
  readonly operator: HolderId
  readonly successions: readonly SignedSuccession[]
  readonly channel: ChannelId
  /** Where the broker is, best first. */
  readonly broker: readonly BrokerPlace[]
  readonly clock: Clock
  /** The list to publish, given the newest that the broker has. */
  readonly next: (newest: Verified<RevocationList> | undefined) => Verified<RevocationList>
}

/** @throws {CtError} why the broker cannot be reached, or why it refused */
export async function publishRevocations(options: PublishOptions, signal: AbortSignal): Promise<void> {
  const { identity, broker, clock } = options
  const node = await createNode({
    // Its own key shows the broker that it is the operator.
    holder: identity,
    noise: noiseKey(SecretKey.generate()),
    listen: [],
    maxSessions: 1,
    brokered: { webSocket: webSocketTo({ broker, relay: [] }) },
  })
  try {
    await node.libp2p.start()
    const connection = await new BrokerLink(node, broker, clock).connect(signal)
    await publishOn(connection, options, AbortSignal.any([signal, AbortSignal.timeout(PUBLISH_TIMEOUT_MS)]))
  } catch (error) {
    signal.throwIfAborted()
    throw isCtError(error) ? error : new CtError('ERR_LINK_LOST', `the broker does not answer (${String(error)})`)
  } finally {
    await stopNode(node.libp2p, clock)
  }
}

async function publishOn(
  connection: Connection,
  { operator, channel, successions, clock, next }: PublishOptions,
  signal: AbortSignal,
): Promise<void> {
  const stream = await connection.newStream(RENDEZVOUS_PROTOCOL, { signal })
  const said: FromBroker[] = []
  const waiting = new Set<() => void>()
  const wake = (): void => {
    for (const check of [...waiting]) check()
  }
  let failure: CtError | undefined
  const fail = (error: CtError): void => {
    failure ??= error
    wake()
  }
  const reader = new RendezvousReader(MAX_LIST_MESSAGE_BYTES)
  stream.addEventListener('message', ({ data }) => {
    try {
      for (const payload of reader.push(data.subarray())) {
        const message = parseFromBroker(payload)
        if (message !== undefined) said.push(message)
      }
    } catch (error) {
      fail(toCtError(error))
    }
    wake()
  })
  const lost = (): void => fail(new CtError('ERR_LINK_LOST', 'the broker ended the stream'))
  stream.addEventListener('remoteCloseWrite', lost)
  stream.addEventListener('close', ({ error }) => (isUnspoken(error) ? fail(noBroker(error)) : lost()))
  signal.addEventListener('abort', () => fail(toCtError(signal.reason, 'ERR_TIMEOUT')), { once: true })
  const say = (message: FromMember): void => void stream.send(encodeRendezvousFrame(encodeFromMember(message)))
  /** What the broker has said up to its next word on what it has. */
  const noted = (): Promise<{ readonly before: readonly FromBroker[]; readonly sequence: bigint }> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const at = said.findIndex(({ kind }) => kind === 'noted')
        const refused = said.find((message) => message.kind === 'refused')
        if (at < 0 && refused === undefined && failure === undefined) return
        waiting.delete(check)
        if (at >= 0) {
          const taken = said.splice(0, at + 1)
          resolve({ before: taken, sequence: (taken.at(-1) as Noted).sequence })
        } else if (refused !== undefined) {
          const { code, category, reason } = refused
          reject(new CtError(code, `the broker refused the list (${category}): ${reason}`))
        } else if (failure !== undefined) {
          reject(failure)
        }
      }
      waiting.add(check)
      check()
    })

  const known = new KnownRevocations({ operator, channel, clock })
  known.follow(successions)
  say({ kind: 'publish', operator, channel, successions })
  const first = await noted()
  for (const message of first.before) if (message.kind === 'revoked') known.learn(message.list)
  const list = next(known.newest)
  say({ kind: 'revoked', list, successions })
  const { sequence } = await noted()
  stream.close({ signal: AbortSignal.timeout(CLOSE_TIMEOUT_MS) }).catch((error: unknown) => {
    stream.abort(toCtError(error))
  })
  if (sequence === list.body.sequence) return
  throw new CtError('ERR_PROTOCOL', `expected the broker to take list ${list.body.sequence}, found it at ${sequence}`)
}
