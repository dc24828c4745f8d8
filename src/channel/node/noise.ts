/**
 * The Noise encrypter with a record of the static keys the peer proved.
 *
 * libp2p-noise authenticates the libp2p identity and does not tell which static X25519 key the peer used. It takes its
 * cryptography as a parameter, so each connection gets one that notes the remote keys of its Diffie-Hellman steps. A
 * handshake that succeeds proves that the peer knows the private half of every key among them: each is mixed into the
 * keys under which its last message authenticated.
 *
 * @module
 */
import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { type ICryptoInterface, noise, pureJsCrypto } from '@chainsafe/libp2p-noise'
import {
  type Connection,
  type ConnectionEncrypter,
  type MessageStream,
  type PeerId,
  type SecuredConnection,
  serviceCapabilities,
} from '@libp2p/interface'
import { toHex } from '../../core/bytes.ts'
import { type NoiseKeyId } from '../../core/ids.ts'
import { type SecretKey } from '../../core/keys.ts'
import { systemClock } from '../../core/time.ts'
import { joinWrites } from './joined-writes.ts'
import { lingerThenFree } from './linger.ts'
import { nodeCipher } from './noise-cipher.ts'
import { readLengthsCalmly } from './noise-lengths.ts'

/** As libp2p names it. */
export const NOISE_PROTOCOL = '/noise'

type NoiseComponents = Parameters<ReturnType<typeof noise>>[0]
type SecureOptions = Parameters<ConnectionEncrypter['secureOutbound']>[1]

/**
 * Keys that peers proved, by the very `PeerId` object that the handshake made: libp2p hands it on to the connection.
 * Two connections to one address, or to one member, never share it.
 */
export class NoiseKeyRecords {
  readonly #keys = new WeakMap<PeerId, ReadonlySet<NoiseKeyId>>()

  /** Keys the peer of a connection proved: its static key, and the ephemeral one, which matches no pin. */
  keysOf({ remotePeer }: Connection): ReadonlySet<NoiseKeyId> {
    return this.#keys.get(remotePeer) ?? NO_KEYS
  }

  note(remotePeer: PeerId, keys: ReadonlySet<NoiseKeyId>): void {
    this.#keys.set(remotePeer, keys)
  }
}

/** Factory for libp2p's `connectionEncrypters`. */
export function recordingNoise(
  secret: SecretKey,
  records: NoiseKeyRecords,
): (components: NoiseComponents) => ConnectionEncrypter {
  return (components) => {
    const secure =
      (direction: 'secureInbound' | 'secureOutbound') =>
      async (connection: MessageStream, options?: SecureOptions): Promise<SecuredConnection> => {
        const keys = new Set<NoiseKeyId>()
        // Where both sides dialled, one answers all the same, and the muxer takes its part from what the stream says.
        if (direction === 'secureInbound') Object.assign(connection, { direction: 'inbound' })
        joinWrites(connection)
        lingerThenFree(connection, systemClock)
        const encrypter = noise({ staticNoiseKey: secret.reveal(), crypto: recordingCrypto(keys) })(components)
        const secured = await encrypter[direction](connection, options)
        readLengthsCalmly(secured.connection)
        records.note(secured.remotePeer, keys)
        return secured
      }
    return {
      protocol: NOISE_PROTOCOL,
      [Symbol.toStringTag]: 'ct-agent/noise',
      [serviceCapabilities]: ['@libp2p/connection-encryption'],
      secureInbound: secure('secureInbound'),
      secureOutbound: secure('secureOutbound'),
    } as ConnectionEncrypter
  }
}

function recordingCrypto(keys: Set<NoiseKeyId>): ICryptoInterface {
  return {
    ...pureJsCrypto,
    ...nodeCipher,
    generateX25519KeyPair: () => keyPairOf(generateKeyPairSync('x25519').privateKey),
    generateX25519KeyPairFromSeed: (seed) => keyPairOf(privateKeyOf(seed)),
    generateX25519SharedKey: (privateKey, publicKey) => {
      const remote = publicKey.subarray()
      const shared = diffieHellman({ privateKey: privateKeyOf(privateKey.subarray()), publicKey: publicKeyOf(remote) })
      keys.add(toHex(remote) as NoiseKeyId)
      return shared
    },
  }
}

function keyPairOf(privateKey: KeyObject): { publicKey: Uint8Array; privateKey: Uint8Array } {
  return {
    publicKey: createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length),
    privateKey: privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8_PREFIX.length),
  }
}

function privateKeyOf(bytes: Uint8Array): KeyObject {
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, bytes]), format: 'der', type: 'pkcs8' })
}

function publicKeyOf(bytes: Uint8Array): KeyObject {
  return createPublicKey({ key: Buffer.concat([SPKI_PREFIX, bytes]), format: 'der', type: 'spki' })
}

/** DER headers of X25519 keys (RFC 8410); the 32 raw bytes follow. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex')
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex')
const NO_KEYS: ReadonlySet<NoiseKeyId> = new Set()
