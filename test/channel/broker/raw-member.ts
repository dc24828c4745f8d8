/**
 * Members of a broker made of libp2p alone, so that a test can say anything to it.
 *
 * @module
 */
import { yamux } from '@chainsafe/libp2p-yamux'
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { privateKeyFromRaw } from '@libp2p/crypto/keys'
import { type Connection, type Libp2p, type Stream } from '@libp2p/interface'
import { tcp } from '@libp2p/tcp'
import { webSockets } from '@libp2p/websockets'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { type Broker, type BrokerOptions, createBroker } from '../../../src/channel/broker/index.ts'
import { type Credentials } from '../../../src/channel/membership/credentials.ts'
import { GRANT, type Grant, NOISE_ATTESTATION } from '../../../src/channel/membership/index.ts'
import { NoiseKeyRecords, recordingNoise } from '../../../src/channel/node/noise.ts'
import { encodeRendezvousFrame, RendezvousReader } from '../../../src/channel/rendezvous/framing.ts'
import {
  encodeFromMember,
  type FromBroker,
  type FromMember,
  type Join,
  MAX_LIST_MESSAGE_BYTES,
  parseFromBroker,
  RENDEZVOUS_PROTOCOL,
} from '../../../src/channel/rendezvous/messages.ts'
import { seal } from '../../../src/core/artefact.ts'
import { type ChannelId, type HolderId } from '../../../src/core/ids.ts'
import { type HolderKey, holderKey, type NoiseKey, noiseKey, SecretKey } from '../../../src/core/keys.ts'
import { systemClock } from '../../../src/core/time.ts'
import { type UnixSeconds, u64, unixSeconds } from '../../../src/core/u64.ts'
import { silentLog } from '../../silent-log.ts'
import { closing } from '../members.ts'

export const CHANNEL = 'c1'.repeat(32) as ChannelId
export const OTHER_CHANNEL = 'c2'.repeat(32) as ChannelId

export const LIMITS: BrokerOptions['limits'] = {
  connections: 2_048,
  reservations: 64,
  peerRelayed: 16,
  relayBytes: 1_048_576,
  relaySeconds: 600,
}

/** Closed by `closeAll`. */
export async function startBroker(options: Partial<BrokerOptions> = {}): Promise<Broker> {
  const broker = await createBroker({
    holder: holderKey(SecretKey.generate()),
    listen: [{ host: '127.0.0.1', port: 0 }],
    limits: LIMITS,
    operatorLimits: { rooms: 64, seats: 2_048, bytes: 1_073_741_824 },
    clock: systemClock,
    log: silentLog,
    ...options,
  })
  closing(() => broker.close())
  return broker
}

export interface Identity {
  readonly holder: HolderKey
  readonly noise: NoiseKey
}

export function identity(): Identity {
  return { holder: holderKey(SecretKey.generate()), noise: noiseKey(SecretKey.generate()) }
}

export function inAnHour(): UnixSeconds {
  return u64(unixSeconds(systemClock) + 3_600n)
}

export const OPERATOR = holderKey(SecretKey.generate())

/** What the operator signed for the member, changed as the test likes. */
export function credentialsOf(
  { holder, noise }: Identity,
  { operator = OPERATOR, ...changes }: Partial<Grant> & { readonly operator?: HolderKey } = {},
): Credentials {
  const grant: Grant = {
    holder: holder.id,
    channel: CHANNEL,
    direction: 'both',
    rights: 'rw',
    delegable: false,
    expiresAt: inAnHour(),
    ...changes,
  }
  const body = { channel: grant.channel, holder: holder.id, noiseKey: noise.id }
  return {
    grants: [seal(GRANT, grant, operator.secret)],
    attestation: seal(NOISE_ATTESTATION, body, holder.secret).signature,
  }
}

export function joinOf(self: Identity, side: Join['side'], changes: Partial<Join> = {}): Join {
  return {
    kind: 'join',
    operator: OPERATOR.id,
    channel: CHANNEL,
    side,
    credentials: credentialsOf(self, { channel: changes.channel ?? CHANNEL }),
    addresses: [],
    ...changes,
  }
}

/** One rendezvous stream, with everything the broker has said on it. */
export class RawStream {
  readonly heard: FromBroker[] = []
  readonly #stream: Stream
  readonly #waiting: (() => void)[] = []
  #isOver = false

  constructor(stream: Stream) {
    this.#stream = stream
    const reader = new RendezvousReader(MAX_LIST_MESSAGE_BYTES)
    stream.addEventListener('message', ({ data }) => {
      for (const payload of reader.push(data.subarray())) {
        const message = parseFromBroker(payload)
        if (message !== undefined) this.heard.push(message)
      }
      this.#wake()
    })
    const end = (): void => {
      this.#isOver = true
      this.#wake()
    }
    stream.addEventListener('remoteCloseWrite', end)
    stream.addEventListener('close', end)
  }

  say(message: FromMember): this {
    return this.write(encodeRendezvousFrame(encodeFromMember(message)))
  }

  write(bytes: Uint8Array): this {
    this.#stream.send(bytes)
    return this
  }

  /** Not waited for: libp2p's close waits for ever when the broker's own end comes at the same time. */
  close(): void {
    this.#stream.close().catch(() => {})
  }

  /** The first message of this kind, said or still to be said. */
  async hear<Kind extends FromBroker['kind']>(kind: Kind): Promise<Extract<FromBroker, { kind: Kind }>> {
    for (;;) {
      const found = this.heard.find((message) => message.kind === kind)
      if (found !== undefined) return found as Extract<FromBroker, { kind: Kind }>
      if (this.#isOver) throw new Error(`expected ${kind}, found the end after ${JSON.stringify(this.heard)}`)
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  async ended(): Promise<void> {
    while (!this.#isOver) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }
}

export class RawMember {
  readonly self: Identity
  readonly libp2p: Libp2p
  readonly #broker: string

  private constructor(self: Identity, libp2p: Libp2p, broker: string) {
    this.self = self
    this.libp2p = libp2p
    this.#broker = broker
  }

  /** Closed by `closeAll`. */
  static async start({ ticketLine }: Pick<Broker, 'ticketLine'>, self = identity()): Promise<RawMember> {
    const libp2p = await createLibp2p({
      privateKey: privateKeyFromRaw(Buffer.concat([self.holder.secret.reveal(), Buffer.from(self.holder.id, 'hex')])),
      transports: [
        tcp(),
        webSockets(),
        (components) => {
          const transport = circuitRelayTransport()(components)
          Object.defineProperty(transport, Symbol.for('@libp2p/service-dependencies'), { value: [] })
          return transport
        },
      ],
      connectionEncrypters: [recordingNoise(self.noise.secret, new NoiseKeyRecords())],
      streamMuxers: [yamux()],
      connectionMonitor: { enabled: false },
      connectionGater: { denyDialMultiaddr: () => false },
    })
    closing(async () => libp2p.stop())
    return new RawMember(self, libp2p, ticketLine)
  }

  get id(): HolderId {
    return this.self.holder.id
  }

  connect(): Promise<Connection> {
    return this.libp2p.dial(multiaddr(this.#broker))
  }

  async open(): Promise<RawStream> {
    const connection = await this.connect()
    return new RawStream(await connection.newStream(RENDEZVOUS_PROTOCOL))
  }

  /** Opens a stream and joins on it. */
  async join(side: Join['side'], changes: Partial<Join> = {}): Promise<RawStream> {
    return (await this.open()).say(joinOf(this.self, side, changes))
  }

  /** Asks for a reservation; resolves with what the relay answered. */
  async reserve(): Promise<'reserved' | 'refused'> {
    try {
      await this.libp2p.dial(multiaddr(this.#broker))
      await this.#relayTransport().reservationStore.addRelay((await this.connect()).remotePeer, 'configured')
      return 'reserved'
    } catch {
      return 'refused'
    }
  }

  /** Dials another member through the broker. */
  dialThrough(peer: RawMember): Promise<Connection> {
    const address = `${this.#broker}/p2p-circuit/p2p/${peer.libp2p.peerId.toString()}`
    return this.libp2p.dial(multiaddr(address))
  }

  /** Credentials of this member with the Noise key of another. */
  credentialsFor({ noise }: Pick<Identity, 'noise'>): Credentials {
    return credentialsOf({ ...this.self, noise })
  }

  #relayTransport(): RelayTransport {
    const { components } = this.libp2p as unknown as {
      components: { transportManager: { getTransports: () => readonly object[] } }
    }
    const found = components.transportManager.getTransports().find((transport) => 'reservationStore' in transport)
    return found as RelayTransport
  }
}

interface RelayTransport {
  readonly reservationStore: { readonly addRelay: (peer: unknown, type: 'configured') => Promise<unknown> }
}

const ECHO = '/test/echo/1'

/** Makes the member send back whatever comes. */
export async function echoing({ libp2p }: RawMember): Promise<void> {
  await libp2p.handle(ECHO, (stream) => stream.addEventListener('message', ({ data }) => void stream.send(data)), {
    runOnLimitedConnection: true,
  })
}

/** Sends so many bytes to a member that echoes and waits for them; rejects when they do not come. */
export async function roundTrip(connection: Connection, size: number): Promise<void> {
  const stream = await connection.newStream(ECHO, { runOnLimitedConnection: true })
  const whole = Promise.withResolvers<void>()
  let received = 0
  stream.addEventListener('message', ({ data }) => {
    received += data.byteLength
    if (received === size) whole.resolve()
  })
  stream.addEventListener('close', ({ error }) => whole.reject(error ?? new Error('the stream was closed')))
  whole.promise.catch(() => {})
  for (let left = size; left > 0; left -= CHUNK_BYTES) {
    if (!stream.send(new Uint8Array(Math.min(left, CHUNK_BYTES)))) await Promise.race([drained(stream), whole.promise])
  }
  await whole.promise
  await stream.close()
}

const CHUNK_BYTES = 32_768

function drained(stream: Stream): Promise<void> {
  return new Promise((resolve) => stream.addEventListener('drain', () => resolve(), { once: true }))
}
