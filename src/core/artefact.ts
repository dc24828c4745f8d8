/**
 * Signed artefacts: a body, what the signature over it covers, and when it holds.
 *
 * Holds: a `Verified` is made by {@link seal}, {@link open} or {@link openUntimed} alone, so whoever has one knows that
 * the signature was checked against the key that had to sign. A copy of one is none. Nothing is done with the body of a
 * {@link Sealed} but to open it.
 *
 * @module
 */
import { fromHex, toHex } from './bytes.ts'
import { CtError, isCtError } from './errors.ts'
import { type HolderId, SIGNATURE_BYTES, type Signature } from './ids.ts'
import { holderKey, type SecretKey, sign, verify, verifyExactly, verifyMany } from './keys.ts'
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
  /** Whom the body names as its signers, where it does: nobody else can sign it. */
  readonly signers?: (body: Body) => readonly HolderId[]
  /** Throws `ERR_ARTEFACT_INVALID` for what readers of this kind would refuse: such a thing is not signed. */
  readonly refuseUnreadable?: (sealed: Sealed<Body>) => void
}

/** An artefact as it came from somewhere: nothing about it is known yet. */
export interface Sealed<Body> {
  readonly body: Body
  readonly signature: Signature
}

/** The class itself stays in this file: nothing else has the private member, so the compiler takes nothing else for one. */
class Checked<Body> implements Sealed<Body> {
  readonly body: Body
  readonly signature: Signature
  readonly form: SigningForm
  readonly #isChecked = true

  constructor({ body, signature }: Sealed<Body>, form: SigningForm) {
    this.body = body
    this.signature = signature
    this.form = form
    Object.freeze(this)
  }

  static is(value: object): boolean {
    return #isChecked in value && value.#isChecked
  }
}

/** An artefact whose signature was checked. */
export type Verified<Body> = Checked<Body>

/** Refuses what only looks like a checked artefact, such as a copy with another body. @throws {TypeError} */
export function requireVerified(...artefacts: readonly Verified<unknown>[]): void {
  if (!artefacts.every((artefact) => Checked.is(artefact))) {
    throw new TypeError('expected an artefact whose signature was checked, found one that looks like it')
  }
}

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

/**
 * Signs the body, in the current form.
 *
 * @throws {CtError} `ERR_ARTEFACT_INVALID` when no reader would take it
 * @throws {RangeError} when the body names others as its signers
 */
export function seal<Body>(kind: ArtefactKind<Body>, body: Body, secret: SecretKey): Verified<Body> {
  if (kind.signers !== undefined && !kind.signers(body).includes(holderKey(secret).id)) {
    throw new RangeError(`${kind.name}: expected the secret of a signer that it names, found another`)
  }
  const signature = toHex(sign(kind.preimage(body, kind.domain), secret)) as Signature
  kind.refuseUnreadable?.({ body, signature })
  return new Checked({ body, signature }, 'current')
}

/** What readers would refuse of such a body, whoever signs it; nothing, if they take it. */
export function problemOf<Body>(kind: ArtefactKind<Body>, body: Body): string | undefined {
  try {
    kind.refuseUnreadable?.({ body, signature: '00'.repeat(SIGNATURE_BYTES) as Signature })
    return undefined
  } catch (error) {
    if (isCtError(error, 'ERR_ARTEFACT_INVALID')) return error.message
    throw error
  }
}

/**
 * Checks the signature, then the time.
 *
 * @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_SIGNATURE_LEGACY`, `ERR_ARTEFACT_EXPIRED`, `ERR_ARTEFACT_EARLY`
 */
export function open<Body>(kind: ArtefactKind<Body>, sealed: Sealed<Body>, options: OpenOptions): Verified<Body> {
  const opened = openUntimed(kind, sealed, options)
  checkTime(kind, sealed.body, options)
  return opened
}

/** As {@link open}, but for the time. @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_SIGNATURE_LEGACY` */
export function openUntimed<Body>(
  kind: ArtefactKind<Body>,
  sealed: Sealed<Body>,
  options: Omit<OpenOptions, 'now'>,
): Verified<Body> {
  return new Checked(sealed, checkSignature(kind, sealed, options))
}

/** The signature alone: also of what has expired. @throws {CtError} `ERR_SIGNATURE_INVALID`, `ERR_SIGNATURE_LEGACY` */
export function checkSignature<Body>(
  kind: ArtefactKind<Body>,
  { body, signature }: Sealed<Body>,
  { signer, acceptLegacy = false, verifier = verify }: Omit<OpenOptions, 'now'>,
): SigningForm {
  const mayHaveSigned = kind.signers === undefined || kind.signers(body).includes(signer)
  const fits = (check: typeof verify, domain: DomainForm): boolean =>
    mayHaveSigned && check(bytesOf(signature), kind.preimage(body, domain), bytesOf(signer))
  // What is quickly accepted in either form needs no slow refusal of the other before.
  const checks = verifier === verifyMany ? [verifyExactly, verify] : [verifier]
  for (const check of checks) {
    if (fits(check, kind.domain)) return 'current'
    if (kind.hasLegacyForm !== true || !fits(check, 'bare')) continue
    if (acceptLegacy) return 'legacy'
    throw new CtError('ERR_SIGNATURE_LEGACY', `${kind.name}: expected the current signing form, found the legacy form`)
  }
  throw new CtError('ERR_SIGNATURE_INVALID', `${kind.name}: the signature is not one of ${signer} over this content`)
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
