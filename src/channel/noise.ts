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
  type ConnectionEncrypter,
  type MessageStream,
  type SecuredConnection,
  serviceCapabilities,
} from '@libp2p/interface'
import { toHex } from '../core/bytes.ts'
import { type NoiseKeyId } from '../core/ids.ts'
import { type SecretKey } from '../core/keys.ts'
import { joinWrites } from './joined-writes.ts'
import { nodeCipher } from './noise-cipher.ts'

type NoiseComponents = Parameters<ReturnType<typeof noise>>[0]
type SecureOptions = Parameters<ConnectionEncrypter['secureOutbound']>[1]

/** Keys the peers of live connections proved, by the connection's remote address. */
export class NoiseKeyRecords {
  readonly #keys = new Map<string, ReadonlySet<NoiseKeyId>>()

  /** Keys the peer at this address proved: its static key, and the ephemeral one, which matches no pin. */
  keysOf(remoteAddress: string): ReadonlySet<NoiseKeyId> {
    return this.#keys.get(withoutPeer(remoteAddress)) ?? NO_KEYS
  }

  /** Lives as long as the connection: at most one entry for each. */
  note(connection: MessageStream, keys: ReadonlySet<NoiseKeyId>): void {
    const address = remoteAddressOf(connection)
    if (address === undefined) return
    this.#keys.set(address, keys)
    connection.addEventListener('close', () => {
      if (this.#keys.get(address) === keys) this.#keys.delete(address)
    })
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
        joinWrites(connection)
        const encrypter = noise({ staticNoiseKey: secret.reveal(), crypto: recordingCrypto(keys) })(components)
        const secured = await encrypter[direction](connection, options)
        records.note(connection, keys)
        return secured
      }
    return {
      protocol: '/noise',
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

// The encrypter's type speaks of any message stream; what it is given is the transport's connection.
function remoteAddressOf(connection: MessageStream): string | undefined {
  return 'remoteAddr' in connection ? withoutPeer(String(connection.remoteAddr)) : undefined
}

function withoutPeer(address: string): string {
  return address.replace(/\/p2p\/[^/]+$/, '')
}

/** DER headers of X25519 keys (RFC 8410); the 32 raw bytes follow. */
const PKCS8_PREFIX = Buffer.from('302e020100300506032b656e04220420', 'hex')
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex')
const NO_KEYS: ReadonlySet<NoiseKeyId> = new Set()
