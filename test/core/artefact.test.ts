import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type ArtefactKind,
  checkSignature,
  checkTime,
  lifetime,
  type OpenOptions,
  open,
  openUntimed,
  problemOf,
  requireVerified,
  type Sealed,
  seal,
  type Verified,
} from '../../src/core/artefact.ts'
import { fromHex, toHex } from '../../src/core/bytes.ts'
import { CtError, type ErrorCode, isCtError } from '../../src/core/errors.ts'
import { type Signature } from '../../src/core/ids.ts'
import { holderKey, SecretKey, sign, verify, verifyMany } from '../../src/core/keys.ts'
import { type DomainForm, Preimage } from '../../src/core/preimage.ts'
import { saturatingAdd, U64_MAX, u64 } from '../../src/core/u64.ts'

interface Note {
  readonly text: string
  readonly issuedAt: bigint
  readonly expiresAt: bigint
}

function kindOf(domain: DomainForm, more: Partial<ArtefactKind<Note>> = {}): ArtefactKind<Note> {
  return {
    name: 'note',
    domain,
    preimage: ({ text, issuedAt, expiresAt }, form) =>
      new Preimage('test-note-v1', form).text(text).u64(u64(issuedAt)).u64(u64(expiresAt)).bytes(),
    validity: ({ issuedAt, expiresAt }) => ({ issuedAt: u64(issuedAt), expiresAt: u64(expiresAt) }),
    ...more,
  }
}

const NOTE = kindOf('framed', { hasLegacyForm: true })
const MODERN_ONLY = kindOf('framed')
const BARE = kindOf('bare')

const secret = new SecretKey(new Uint8Array(32).fill(7))
const signer = holderKey(secret).id
const strangerSecret = new SecretKey(new Uint8Array(32).fill(8))
const stranger = holderKey(strangerSecret).id
const NOW = u64(1_785_000_000)
const body: Note = { text: 'hello', issuedAt: NOW, expiresAt: NOW + 100n }
const options: OpenOptions = { signer, now: NOW }
const sealed = seal(NOTE, body, secret)

function signedAs(domain: DomainForm, note: Note = body): Sealed<Note> {
  return { body: note, signature: toHex(sign(NOTE.preimage(note, domain), secret)) as Signature }
}

function flip(hex: string, bit: number): Signature {
  const bytes = fromHex(hex)
  if ('problem' in bytes) throw new Error(bytes.problem)
  const at = bit >> 3
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7))
  return toHex(bytes) as Signature
}

function codeOf(run: () => unknown): ErrorCode | 'none' {
  try {
    run()
    return 'none'
  } catch (error) {
    if (isCtError(error)) return error.code
    throw error
  }
}

describe('open', () => {
  it('opens what seal has sealed, and keeps body and signature', () => {
    for (const kind of [NOTE, MODERN_ONLY, BARE]) {
      const artefact = seal(kind, body, secret)
      expect(open(kind, artefact, options)).toEqual({ body, signature: artefact.signature, form: 'current' })
    }
  })

  it('opens any body that was sealed, and no other one under its signature', () => {
    const seconds = fc.bigInt({ min: 0n, max: U64_MAX })
    const notes = fc.record({ text: fc.string({ unit: 'grapheme' }), issuedAt: seconds, expiresAt: seconds })
    fc.assert(
      fc.property(notes, notes, (one, other) => {
        const artefact = seal(NOTE, one, secret)
        expect(checkSignature(NOTE, artefact, { signer, verifier: verifyMany })).toBe('current')
        if (JSON.stringify(Object.values(one), String) === JSON.stringify(Object.values(other), String)) return
        const changed = { body: other, signature: artefact.signature }
        expect(codeOf(() => checkSignature(NOTE, changed, options))).toBe('ERR_SIGNATURE_INVALID')
      }),
      { numRuns: 15 },
    )
  })

  const forged: readonly { name: string; run: () => unknown; code: ErrorCode | 'none' }[] = [
    {
      name: 'a changed text',
      run: () => open(NOTE, { ...sealed, body: { ...body, text: 'hellO' } }, options),
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'a later expiry',
      run: () => open(NOTE, { ...sealed, body: { ...body, expiresAt: body.expiresAt + 1n } }, options),
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'the wrong signer',
      run: () => open(NOTE, sealed, { ...options, signer: stranger }),
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'the wrong signer, with the legacy form accepted',
      run: () => open(NOTE, signedAs('bare'), { ...options, signer: stranger, acceptLegacy: true }),
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'a signature over another domain',
      run: () => open({ ...NOTE, preimage: (_, form) => new Preimage('other', form).bytes() }, sealed, options),
      code: 'ERR_SIGNATURE_INVALID',
    },
    { name: 'the legacy form', run: () => open(NOTE, signedAs('bare'), options), code: 'ERR_SIGNATURE_LEGACY' },
    {
      name: 'the legacy form of what never had one',
      run: () => open(MODERN_ONLY, signedAs('bare'), { ...options, acceptLegacy: true }),
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'the framed form of what is signed bare',
      run: () => open(BARE, signedAs('framed'), { ...options, acceptLegacy: true }),
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'a signature that is wrong on what has expired too',
      run: () => open(NOTE, { ...sealed, signature: flip(sealed.signature, 0) }, { ...options, now: U64_MAX }),
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'the legacy form of what has expired',
      run: () => open(NOTE, signedAs('bare'), { ...options, now: U64_MAX, acceptLegacy: true }),
      code: 'ERR_ARTEFACT_EXPIRED',
    },
  ]
  for (const { name, run, code } of forged) {
    it(`refuses ${name}`, () => expect(codeOf(run)).toBe(code))
  }

  it('opens the legacy form where it is accepted, and says which one it was', () => {
    expect(open(NOTE, signedAs('bare'), { ...options, acceptLegacy: true }).form).toBe('legacy')
    expect(open(NOTE, sealed, { ...options, acceptLegacy: true }).form).toBe('current')
  })

  it('refuses every signature with one bit changed', () => {
    for (let bit = 0; bit < 512; bit += 1) {
      const changed = { body, signature: flip(sealed.signature, bit) }
      expect([bit, codeOf(() => open(MODERN_ONLY, changed, options))]).toEqual([bit, 'ERR_SIGNATURE_INVALID'])
    }
  })

  it('refuses every signature with one bit changed, also where the legacy form is accepted', () => {
    fc.assert(
      fc.property(fc.nat({ max: 511 }), fc.constantFrom('framed', 'bare'), (bit, form) => {
        const changed = { body, signature: flip(signedAs(form).signature, bit) }
        expect(codeOf(() => open(NOTE, changed, { ...options, acceptLegacy: true }))).toBe('ERR_SIGNATURE_INVALID')
      }),
      { numRuns: 20 },
    )
  })

  it('asks the verifier it was given, and believes only that one', () => {
    const asked: number[] = []
    const verifier: typeof verify = (signature, message, key) => {
      asked.push(signature.length, key.length)
      return verify(signature, message, key)
    }
    expect(open(NOTE, sealed, { ...options, verifier }).form).toBe('current')
    expect(asked).toEqual([64, 32])
    expect(codeOf(() => open(NOTE, sealed, { ...options, verifier: () => false }))).toBe('ERR_SIGNATURE_INVALID')
  })
})

describe('Verified', () => {
  const verified = seal(NOTE, body, secret)

  it('comes from seal and open alone: a copy or a cast is none', () => {
    const copy = { ...verified, body: { ...body, text: 'other' } }
    // @ts-expect-error the compiler takes no copy for the original either
    const copied: Verified<Note> = copy
    for (const pretended of [copied, copy as unknown as Verified<Note>, Object.create(verified) as Verified<Note>]) {
      expect(() => requireVerified(verified, pretended)).toThrow(TypeError)
    }
    expect(() => requireVerified(verified, open(NOTE, verified, options))).not.toThrow()
  })

  it('cannot be changed', () => {
    expect(() => Object.assign(verified, { body: { ...body, text: 'other' } })).toThrow(TypeError)
  })
})

describe('a kind that names its signers', () => {
  const kind = kindOf('framed', { signers: () => [signer] })

  it('is sealed by one of them alone', () => {
    expect(seal(kind, body, secret).form).toBe('current')
    expect(() => seal(kind, body, strangerSecret)).toThrow(RangeError)
  })

  it('is opened for one of them alone, whoever else did sign it', () => {
    const foreign = seal(kindOf('framed'), body, strangerSecret)
    expect(open(kindOf('framed'), foreign, { ...options, signer: stranger }).form).toBe('current')
    expect(codeOf(() => open(kind, foreign, { ...options, signer: stranger }))).toBe('ERR_SIGNATURE_INVALID')
    expect(codeOf(() => open(kind, foreign, options))).toBe('ERR_SIGNATURE_INVALID')
  })
})

describe('a kind that readers may refuse', () => {
  const kind = kindOf('framed', {
    refuseUnreadable: ({ body: { text } }) => {
      if (text.length > 5) throw new CtError('ERR_ARTEFACT_INVALID', 'note: too long')
    },
  })

  it('is not sealed when they would', () => {
    expect(seal(kind, body, secret).form).toBe('current')
    expect(codeOf(() => seal(kind, { ...body, text: 'hello!' }, secret))).toBe('ERR_ARTEFACT_INVALID')
  })

  it('says what they would refuse, before anybody signs', () => {
    expect(problemOf(kind, body)).toBeUndefined()
    expect(problemOf(kind, { ...body, text: 'hello!' })).toBe('note: too long')
  })
})

describe('openUntimed', () => {
  it('checks the signature alone', () => {
    const late = seal(NOTE, { ...body, expiresAt: 0n }, secret)
    expect(openUntimed(NOTE, late, { signer })).toEqual({ ...late })
    expect(codeOf(() => openUntimed(NOTE, late, { signer: stranger }))).toBe('ERR_SIGNATURE_INVALID')
    expect(() => requireVerified(openUntimed(NOTE, late, { signer }))).not.toThrow()
  })
})

describe('checkTime', () => {
  const moments: readonly { name: string; now: bigint; skewSeconds?: number; code: ErrorCode | 'none' }[] = [
    { name: 'in the second of its issue', now: NOW, code: 'none' },
    { name: '59 seconds before its issue', now: NOW - 59n, code: 'none' },
    { name: '60 seconds before its issue', now: NOW - 60n, code: 'none' },
    { name: '61 seconds before its issue', now: NOW - 61n, code: 'ERR_ARTEFACT_EARLY' },
    { name: 'at the beginning of time', now: 0n, code: 'ERR_ARTEFACT_EARLY' },
    {
      name: 'one second before its issue where no skew is allowed',
      now: NOW - 1n,
      skewSeconds: 0,
      code: 'ERR_ARTEFACT_EARLY',
    },
    { name: 'in the second of its issue where no skew is allowed', now: NOW, skewSeconds: 0, code: 'none' },
    { name: '300 seconds before its issue where so much is allowed', now: NOW - 300n, skewSeconds: 300, code: 'none' },
    { name: '301 seconds before its issue', now: NOW - 301n, skewSeconds: 300, code: 'ERR_ARTEFACT_EARLY' },
    { name: 'in its last second', now: NOW + 99n, code: 'none' },
    { name: 'in the second of its expiry', now: NOW + 100n, code: 'ERR_ARTEFACT_EXPIRED' },
    { name: 'after its expiry, whatever the skew', now: NOW + 101n, skewSeconds: 600, code: 'ERR_ARTEFACT_EXPIRED' },
    { name: 'at the end of time', now: U64_MAX, code: 'ERR_ARTEFACT_EXPIRED' },
  ]
  for (const { name, now, skewSeconds, code } of moments) {
    it(`${code === 'none' ? 'accepts' : 'refuses'} an artefact ${name}`, () => {
      const at = { now: u64(now), ...(skewSeconds === undefined ? {} : { skewSeconds }) }
      expect(codeOf(() => checkTime(NOTE, body, at))).toBe(code)
      expect(codeOf(() => open(NOTE, sealed, { ...options, ...at }))).toBe(code)
    })
  }

  it('names the skew, and both times', () => {
    const message = 'note: issued at 1785000000, and it is 1784999939; clocks may differ by 60 seconds'
    const detail = { issuedAt: '1785000000', now: '1784999939', skewSeconds: 60 }
    const early = () => checkTime(NOTE, body, { now: u64(NOW - 61n) })
    expect(early).toThrow(expect.objectContaining({ message, detail }))
    const late = () => checkTime(NOTE, body, { now: U64_MAX })
    expect(late).toThrow('note: expired at 1785000100, and it is 18446744073709551615')
  })

  it('holds for ever, and from ever, what has no bounds', () => {
    const endless = kindOf('framed', { validity: () => ({}) })
    for (const now of [u64(0), U64_MAX]) expect(codeOf(() => checkTime(endless, body, { now }))).toBe('none')
  })

  it('expires at once what expires when it is issued', () => {
    const dead = { ...body, expiresAt: body.issuedAt }
    expect(codeOf(() => checkTime(NOTE, dead, { now: NOW }))).toBe('ERR_ARTEFACT_EXPIRED')
  })
})

describe('lifetime', () => {
  it('ends so many seconds later, or with the last second there is', () => {
    expect(lifetime(NOW, u64(60))).toEqual({ issuedAt: NOW, expiresAt: NOW + 60n })
    expect(lifetime(NOW, U64_MAX)).toEqual({ issuedAt: NOW, expiresAt: saturatingAdd(NOW, U64_MAX) })
  })
})
