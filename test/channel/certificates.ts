/**
 * X.509 certificates for tests, good and bad, as the test likes.
 *
 * @module
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIP } from 'node:net'

export interface Issued {
  /** PEM */
  readonly cert: string
  /** PEM, PKCS#8 */
  readonly key: string
  readonly der: Uint8Array
  readonly privateKey: KeyObject
  readonly name: string
}

export interface CertificateOptions {
  /** DNS names and IPv4 addresses that it is for. */
  readonly names: readonly string[]
  readonly commonName?: string
  readonly from?: Date
  readonly until?: Date
  /** Signed by itself without one. */
  readonly issuer?: Issued
  readonly isAuthority?: boolean
}

const HOUR_MS = 3_600_000

export function certificate({
  names,
  commonName = 'front.test',
  from = new Date(Date.now() - HOUR_MS),
  until = new Date(Date.now() + HOUR_MS),
  issuer,
  isAuthority = false,
}: CertificateOptions): Issued {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const body = sequence(
    tagged(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_SHA256,
    nameOf(issuer?.name ?? commonName),
    sequence(time(from), time(until)),
    nameOf(commonName),
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(0xa3, sequence(altNames(names), ...(isAuthority ? [AUTHORITY] : []))),
  )
  const signature = sign('sha256', body, issuer?.privateKey ?? privateKey)
  const der = sequence(body, ECDSA_SHA256, tagged(0x03, Buffer.from([0]), signature))
  const base64 = der.toString('base64').replace(/.{64}(?!$)/g, '$&\n')
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    der,
    privateKey,
    name: commonName,
  }
}

function tagged(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return tagged(0x30, ...parts)
}

function integer(bytes: Uint8Array): Buffer {
  return tagged(0x02, bytes)
}

function time(date: Date): Buffer {
  return tagged(0x18, Buffer.from(`${date.toISOString().replace(/\D/g, '').slice(0, 14)}Z`))
}

function nameOf(commonName: string): Buffer {
  return sequence(tagged(0x31, sequence(tagged(0x06, COMMON_NAME), tagged(0x0c, Buffer.from(commonName)))))
}

function altNames(names: readonly string[]): Buffer {
  const entries = names.map((name) =>
    isIP(name) === 4 ? tagged(0x87, Buffer.from(name.split('.').map(Number))) : tagged(0x82, Buffer.from(name)),
  )
  return sequence(tagged(0x06, ALT_NAME), tagged(0x04, sequence(...entries)))
}

const ECDSA_SHA256 = sequence(tagged(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
const COMMON_NAME = Buffer.from('550403', 'hex')
const ALT_NAME = Buffer.from('551d11', 'hex')
/** Basic constraints, critical: an authority. */
const AUTHORITY = sequence(
  tagged(0x06, Buffer.from('551d13', 'hex')),
  tagged(0x01, Buffer.from([0xff])),
  tagged(0x04, sequence(tagged(0x01, Buffer.from([0xff])))),
)
