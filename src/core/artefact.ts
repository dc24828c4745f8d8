/**
 * Signed artefacts: a body, what the signature over it covers, and when it holds.
 *
 * Holds: a `Verified` is made by {@link seal} or {@link open} alone, so whoever has one knows that the signature was
 * checked against the key that had to sign. Nothing is done with the body of a {@link Sealed} but to open it.
 *
 * @module
 */
import { type Brand } from './brand.ts'
import { fromHex, toHex } from './bytes.ts'
import { CtError } from './errors.ts'
import { type HolderId, type Signature } from './ids.ts'
import { type SecretKey, sign, verify } from './keys.ts'
import { type DomainForm } from './preimage.ts'
import { saturatingAdd, type U64, type UnixSeconds, u64 } from './u64.ts'

/** `legacy`: as signed before domains were framed; the bytes of one artefact could then be those of another. */
export type SigningForm = 'current' | 'legacy'

/** When an artefact holds; either end may be open. */
export interface Validity {
  readonly issuedAt?: UnixSeconds
  /** The first second in which it no longer holds. */
  readonly expiresAt?: UnixSeconds
}

/** One kind of artefact. */
export interface ArtefactKind<Body> {
  /** For messages, such as `agent card`. */
  readonly name: string
  /** The bytes that the signature covers. */
  readonly preimage: (body: Body, domain: DomainForm) => Uint8Array
  readonly domain: DomainForm
  readonly validity: (body: Body) => Validity
  /** Was once signed with a bare domain. */
  readonly hasLegacyForm?: true
}

/** An artefact as it came from somewhere: nothing about it is known yet. */
export interface Sealed<Body> {
  readonly body: Body
  readonly signature: Signature
}

/** An artefact whose signature was checked. */
export type Verified<Body> = Brand<Sealed<Body> & { readonly form: SigningForm }, 'Verified'>

export interface OpenOptions {
  /** The key that had to sign. */
  readonly signer: HolderId
  readonly now: UnixSeconds
  /** How far in the future `issued_at` may lie, in seconds: clocks differ. */
  readonly skewSeconds?: number
  readonly acceptLegacy?: boolean
  /** Checks signatures; {@link verify} unless there are many to check. */
  readonly verifier?: typeof verify
}

/** Clocks that are set by the network agree far better than this. */
export const DEFAULT_SKEW_SECONDS = 60

/** Signs the body, in the current form. */
export function seal<Body>(kind: ArtefactKind<Body>, body: Body, secret: SecretKey): Verified<Body> {
  const signature = toHex(sign(kind.preimage(body, kind.domain), secret)) as Signature
  return { body, signature, form: 'current' } as Verified<Body>
}

/**
 * Checks the signature, then the time.
 *
 * @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_SIGNATURE_LEGACY`, `ERR_ARTEFACT_EXPIRED`, `ERR_ARTEFACT_EARLY`
 */
export function open<Body>(kind: ArtefactKind<Body>, sealed: Sealed<Body>, options: OpenOptions): Verified<Body> {
  const form = checkSignature(kind, sealed, options)
  checkTime(kind, sealed.body, options)
  return { ...sealed, form } as Verified<Body>
}

/** The signature alone: also of what has expired. @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_SIGNATURE_LEGACY` */
export function checkSignature<Body>(
  kind: ArtefactKind<Body>,
  { body, signature }: Sealed<Body>,
  { signer, acceptLegacy = false, verifier = verify }: Omit<OpenOptions, 'now'>,
): SigningForm {
  const fits = (domain: DomainForm): boolean =>
    verifier(bytesOf(signature), kind.preimage(body, domain), bytesOf(signer))
  if (fits(kind.domain)) return 'current'
  if (kind.hasLegacyForm !== true || !fits('bare')) {
    throw new CtError('ERR_SIGNATURE_INVALID', `${kind.name}: the signature is not one of ${signer} over this content`)
  }
  if (!acceptLegacy) {
    throw new CtError('ERR_SIGNATURE_LEGACY', `${kind.name}: expected the current signing form, found the legacy form`)
  }
  return 'legacy'
}

/** The time alone. @throws {CtError} `ERR_ARTEFACT_EXPIRED`, `ERR_ARTEFACT_EARLY` */
export function checkTime<Body>(
  kind: ArtefactKind<Body>,
  body: Body,
  { now, skewSeconds = DEFAULT_SKEW_SECONDS }: Pick<OpenOptions, 'now' | 'skewSeconds'>,
): void {
  const { issuedAt, expiresAt } = kind.validity(body)
  if (expiresAt !== undefined && now >= expiresAt) {
    throw new CtError('ERR_ARTEFACT_EXPIRED', `${kind.name}: expired at ${expiresAt}, and it is ${now}`, {
      detail: { expiresAt: expiresAt.toString(), now: now.toString() },
    })
  }
  const latest = saturatingAdd(now, u64(skewSeconds))
  if (issuedAt !== undefined && issuedAt > latest) {
    throw new CtError(
      'ERR_ARTEFACT_EARLY',
      `${kind.name}: issued at ${issuedAt}, and it is ${now}; clocks may differ by ${skewSeconds} seconds`,
      { detail: { issuedAt: issuedAt.toString(), now: now.toString(), skewSeconds } },
    )
  }
}

/** A life of `ttlSeconds` from now on; one too long to count ends with the last second there is. */
export function lifetime(now: UnixSeconds, ttlSeconds: U64): Required<Validity> {
  return { issuedAt: now, expiresAt: saturatingAdd(now, ttlSeconds) }
}

/** An artefact of our own is signed anew in the last part of its life: whoever fetched it can still use it for so long. */
const LIFE_PARTS = 4n

/** True until it is time to sign such an artefact anew. */
export function isFresh({ issuedAt, expiresAt }: Required<Validity>, now: UnixSeconds): boolean {
  return now >= issuedAt && now < expiresAt - (expiresAt - issuedAt) / LIFE_PARTS
}

function bytesOf(hex: HolderId | Signature): Uint8Array {
  const bytes = fromHex(hex)
  if ('problem' in bytes) throw new RangeError(`expected hex, found ${bytes.problem}`)
  return bytes
}
