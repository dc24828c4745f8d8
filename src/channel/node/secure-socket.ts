/**
 * TLS to the front door of a broker.
 *
 * Holds: a socket is handed out only when the certificate at its far end was verified. One that was given as such is
 * taken for the name that it is dialled by, whatever it says: whoever gave it knows whose it is.
 *
 * @module
 */
import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import {
  checkServerIdentity,
  connect,
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type TLSSocket,
} from 'node:tls'
import { CtError } from '../../core/errors.ts'
import { printable } from '../../core/printable.ts'
import { abortable } from '../../core/time.ts'
import { type Address, formatAddress } from '../address.ts'

const MAX_NAME_CHARS = 200

/** Whose certificates are trusted. */
export class Authorities {
  readonly #certificates: readonly string[]
  #context: SecureContext | undefined
  readonly #own: readonly X509Certificate[]

  /** @param certificates in PEM, trusted besides those that everybody trusts */
  constructor(certificates: readonly string[]) {
    this.#certificates = certificates
    this.#own = certificates.flatMap(certificatesIn)
  }

  /** Made once: it takes longer than a handshake. */
  get context(): SecureContext {
    this.#context ??= createSecureContext({
      minVersion: 'TLSv1.2',
      ...(this.#certificates.length === 0
        ? {}
        : { ca: [...getCACertificates('default'), ...this.#certificates], allowPartialTrustChain: true }),
    })
    return this.#context
  }

  /** One of the certificates that were given, not only one that they vouch for. */
  knows(der: Uint8Array): boolean {
    return this.#own.some(({ raw }) => Buffer.compare(raw, der) === 0)
  }
}

/** The certificates of a PEM text. */
export function certificatesIn(pem: string): readonly X509Certificate[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)].map(
    ([text]) => new X509Certificate(text),
  )
}

/** @throws {CtError} `ERR_CERTIFICATE_UNTRUSTED`, `ERR_CERTIFICATE_EXPIRED`; what the system says when there is no connection */
export async function connectSecurely(
  { host, port }: Address,
  authorities: Authorities,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const socket = connect({
    host,
    port,
    secureContext: authorities.context,
    ALPNProtocols: ['http/1.1'],
    ...(isIP(host) === 0 ? { servername: host } : {}),
    checkServerIdentity: (name, found) => (authorities.knows(found.raw) ? undefined : checkServerIdentity(name, found)),
    // Checked below, where the certificate can be named.
    rejectUnauthorized: false,
  })
  try {
    await abortable(secured(socket), signal)
    if (!socket.authorized) throw refusalOf(socket, formatAddress({ host, port }))
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  }
}

function secured(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('secureConnect', resolve)
    socket.on('error', reject)
    socket.once('close', () => reject(new Error('the connection was closed during the TLS handshake')))
  })
}

function refusalOf(socket: TLSSocket, where: string): CtError {
  const certificate = socket.getPeerX509Certificate()
  const subject = printable(certificate?.subject ?? 'nobody', MAX_NAME_CHARS)
  const found = `the certificate of ${where} (${subject})`
  // Typed as an error, and a code for all that OpenSSL says.
  const problem = printable(String(socket.authorizationError), MAX_NAME_CHARS)
  const detail = { certificate: certificate?.fingerprint256 ?? '' }
  switch (problem) {
    case 'CERT_HAS_EXPIRED':
      return new CtError('ERR_CERTIFICATE_EXPIRED', `${found} expired on ${certificate?.validTo}`, { detail })
    case 'CERT_NOT_YET_VALID':
      return new CtError('ERR_CERTIFICATE_EXPIRED', `${found} is good from ${certificate?.validFrom} on`, { detail })
    case 'ERR_TLS_CERT_ALTNAME_INVALID': {
      const names = printable(certificate?.subjectAltName ?? 'no name', MAX_NAME_CHARS)
      return new CtError('ERR_CERTIFICATE_UNTRUSTED', `${found} is for ${names}`, { detail })
    }
    default: {
      const message = `expected a certificate that this machine or CT_CHANNEL_FRONT_DOOR_CERT vouches for, found ${found}: ${problem}`
      return new CtError('ERR_CERTIFICATE_UNTRUSTED', message, { detail })
    }
  }
}
