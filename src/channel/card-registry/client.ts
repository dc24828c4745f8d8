/**
 * Questions to the card registry of a broker.
 *
 * Holds: every question has an answer or an error in {@link ANSWER_TIMEOUT_MS}, whatever the broker does. What it finds is
 * text from a stranger: whoever asked checks each card.
 *
 * @module
 */
import { type Connection, type Stream } from '@libp2p/interface'
import { CtError, isCtError, toCtError } from '../../core/errors.ts'
import { type HolderKey, noiseKey, SecretKey } from '../../core/keys.ts'
import { type Clock } from '../../core/time.ts'
import { type BrokerPlace } from '../broker-address.ts'
import { webSocketTo } from '../broker-options.ts'
import { BrokerLink } from '../dialling/broker-link.ts'
import { createNode, stopNode } from '../node/node.ts'
import { isUnspoken } from '../node/optimistic-select.ts'
import { encodeLengthFrame, RendezvousReader } from '../rendezvous/framing.ts'
import { type Refused, refusalOf } from '../rendezvous/refused.ts'
import {
  CARDS_PROTOCOL,
  type CardAnswer,
  type CardRequest,
  encodeCardRequest,
  type Find,
  type Found,
  MAX_CARD_ANSWER_BYTES,
  MAX_CARD_BYTES,
  MAX_CARD_REQUEST_BYTES,
  type Published,
  parseCardAnswer,
  type Withdrawn,
} from './messages.ts'

/** To open the stream, ask, and be answered. */
const ANSWER_TIMEOUT_MS = 10_000
const CLOSE_TIMEOUT_MS = 1_000

export interface CardRegistryOptions {
  /** Whose cards may be published; anybody may look for cards. */
  readonly holder: HolderKey
  /** Where the broker is, best first. */
  readonly broker: readonly BrokerPlace[]
  readonly clock: Clock
}

/** Every method rejects with a `CtError`: why the broker cannot be reached, or why it refused. */
export interface CardRegistryLink {
  /** @param card the very text that its holder, who publishes it, signed */
  readonly publish: (card: string, signal: AbortSignal) => Promise<Published>
  readonly withdraw: (signal: AbortSignal) => Promise<Withdrawn>
  readonly find: (query: Omit<Find, 'kind'>, signal: AbortSignal) => Promise<Found>
  readonly close: () => Promise<void>
}

export async function openCardRegistry({ holder, broker, clock }: CardRegistryOptions): Promise<CardRegistryLink> {
  const node = await createNode({
    holder,
    // Nobody is told of it, and nobody attested it: the broker looks at the holder alone.
    noise: noiseKey(SecretKey.generate()),
    listen: [],
    maxSessions: 1,
    brokered: { webSocket: webSocketTo({ broker, relay: [] }) },
  })
  await node.libp2p.start()
  const link = new BrokerLink(node, broker, clock)
  const ask = async <Kind extends Exclude<CardAnswer, Refused>['kind']>(
    request: CardRequest,
    kind: Kind,
    signal: AbortSignal,
  ): Promise<Extract<CardAnswer, { kind: Kind }>> => {
    const connection = await link.connect(signal)
    const answer = await exchange(connection, request, signal)
    if (answer.kind === kind) return answer as Extract<CardAnswer, { kind: Kind }>
    throw answer.kind === 'refused' ? refusalOf(answer) : new CtError('ERR_PROTOCOL', `expected the answer ${kind}`)
  }
  return {
    publish: (card, signal) => {
      const size = Buffer.byteLength(card)
      if (size > MAX_CARD_BYTES) {
        const problem = `expected a card of at most ${MAX_CARD_BYTES} bytes for the registry, found ${size}`
        return Promise.reject(new CtError('ERR_MESSAGE_TOO_LARGE', problem))
      }
      return ask({ kind: 'publish', card }, 'published', signal)
    },
    withdraw: (signal) => ask({ kind: 'withdraw' }, 'withdrawn', signal),
    find: (query, signal) => ask({ kind: 'find', ...query }, 'found', signal),
    close: () => stopNode(node.libp2p, clock),
  }
}

async function exchange(connection: Connection, request: CardRequest, signal: AbortSignal): Promise<CardAnswer> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_TIMEOUT_MS)])
  let stream: Stream | undefined
  try {
    stream = await connection.newStream(CARDS_PROTOCOL, { signal: bounded })
    const answered = answerOn(stream, bounded)
    stream.send(encodeLengthFrame(encodeCardRequest(request), MAX_CARD_REQUEST_BYTES))
    return parseCardAnswer(await answered)
  } catch (error) {
    signal.throwIfAborted()
    throw failure(error)
  } finally {
    const over = stream
    over?.close({ signal: AbortSignal.timeout(CLOSE_TIMEOUT_MS) }).catch((error: unknown) => {
      over.abort(toCtError(error))
    })
  }
}

/** The first message on the stream. */
function answerOn(stream: Stream, signal: AbortSignal): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const reader = new RendezvousReader(MAX_CARD_ANSWER_BYTES)
    const lost = (): void => reject(new CtError('ERR_LINK_LOST', 'the broker ended the stream without an answer'))
    stream.addEventListener('message', ({ data }) => {
      try {
        const [answer] = reader.push(data.subarray())
        if (answer !== undefined) resolve(answer)
      } catch (error) {
        reject(toCtError(error))
      }
    })
    stream.addEventListener('remoteCloseWrite', lost)
    stream.addEventListener('close', ({ error }) => (isUnspoken(error) ? reject(error) : lost()))
    signal.addEventListener('abort', () => reject(toCtError(signal.reason)), { once: true })
  })
}

function failure(error: unknown): CtError {
  if (isCtError(error) && error.code !== 'ERR_INTERNAL') return error
  if (isUnspoken(error)) {
    return new CtError('ERR_PROTOCOL', 'expected a broker that keeps cards, found one that keeps none', {
      cause: error,
    })
  }
  const text = error instanceof Error ? `${error.name} ${error.message}` : String(error)
  return /timed? ?out|TimeoutError/i.test(text)
    ? new CtError('ERR_TIMEOUT', 'the broker did not answer in time', { cause: error })
    : new CtError('ERR_LINK_LOST', `the broker does not answer (${text})`, { cause: error })
}
