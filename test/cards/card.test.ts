import { createPublicKey, type KeyObject, verify as opensslVerify } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  AGENT_CARD,
  type AgentCard,
  cardJson,
  holderJwk,
  openCard,
  parseCard,
  sealCard,
} from '../../src/cards/index.ts'
import { seal } from '../../src/core/artefact.ts'
import { decodeUtf8, toHex } from '../../src/core/bytes.ts'
import { type ErrorCode } from '../../src/core/errors.ts'
import { type ExactObject, writeExactJson } from '../../src/core/exact-json.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { holderKey, SecretKey } from '../../src/core/keys.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import { signedBy } from '../core/forged.ts'
import vectors from '../vectors/cards.json' with { type: 'json' }
import { anyCard, codeOf, flipBit, holder, NOW, sample, stranger } from './sample-card.ts'

const textOf = (card: AgentCard): string => writeExactJson(cardJson(sealCard(card, holder.secret)))
const sampleText = textOf(sample)
const unicode = fc.string({ unit: 'binary', maxLength: 12 }).filter((text) => text.isWellFormed())

describe('golden vectors', () => {
  for (const { name, form, secret, valid, preimage, signature, json } of vectors.cards) {
    const sealed = parseCard(json)
    const domain = form === 'legacy' ? 'bare' : 'framed'

    it(`has the bytes of ${name}`, () => {
      expect(toHex(AGENT_CARD.preimage(sealed.body, domain))).toBe(preimage)
      expect(writeExactJson(cardJson(sealed))).toBe(json)
    })

    if (!valid) {
      it(`refuses ${name}, in either form`, () => {
        const now = sealed.body.issuedAt
        expect(codeOf(() => openCard(sealed, { now, acceptLegacy: true }))).toBe('ERR_SIGNATURE_INVALID')
      })
      continue
    }
    if (secret === undefined || signature === undefined) throw new Error(`${name}: no secret or no signature`)
    const key = holderKey(new SecretKey(new Uint8Array(Buffer.from(secret, 'hex'))))
    const { issuedAt, expiresAt } = sealed.body

    it(`signs ${name} as published`, () => {
      expect(sealed.body.holder).toBe(key.id)
      const kind = { ...AGENT_CARD, domain } as const
      expect(seal(kind, sealed.body, key.secret).signature).toBe(signature)
    })

    it(`opens ${name} from its first second to its last`, () => {
      const acceptLegacy = form === 'legacy'
      for (const now of [issuedAt, u64(expiresAt - 1n)]) {
        expect(openCard(sealed, { now, acceptLegacy })).toEqual({ ...sealed, form })
      }
      expect(codeOf(() => openCard(sealed, { now: expiresAt, acceptLegacy }))).toBe('ERR_ARTEFACT_EXPIRED')
    })

    if (form === 'legacy') {
      it(`refuses ${name} without the switch`, () => {
        expect(codeOf(() => openCard(sealed, { now: issuedAt }))).toBe('ERR_SIGNATURE_LEGACY')
      })
    }
  }
})

describe('sealCard and parseCard', () => {
  it('give back every card', () => {
    fc.assert(
      fc.property(anyCard(unicode), (card) => {
        const sealed = sealCard(card, holder.secret)
        const parsed = parseCard(writeExactJson(cardJson(sealed)))
        expect(parsed).toEqual({ body: card, signature: sealed.signature })
        expect(parseCard(cardJson(sealed))).toEqual(parsed)
      }),
      { numRuns: 60 },
    )
  })

  it('sign different bytes for different cards, in either form', () => {
    const few = anyCard(fc.constantFrom('', 'a', 'b', 'ab', '\0', '\u0001\0\0\0a'))
    const near = few.chain((card) =>
      fc.tuple(fc.constant(card), fc.record({ ...arbitraries(few), ...constants(card) })),
    )
    fc.assert(
      fc.property(fc.oneof(near, fc.tuple(few, few)), fc.constantFrom('framed', 'bare'), ([left, right], domain) => {
        const same = bodyText(left) === bodyText(right)
        const bytes = [left, right].map((card) => toHex(AGENT_CARD.preimage(card, domain)))
        expect(bytes[0] === bytes[1]).toBe(same)
      }),
      { numRuns: 1_000 },
    )
  })

  it('refuse to sign with a key that is not the holder’s', () => {
    expect(() => sealCard(sample, stranger.secret)).toThrow(RangeError)
  })

  it('refuse to sign what no reader takes', () => {
    const roleTags = Array.from({ length: 4_097 }, () => 'x')
    expect(codeOf(() => sealCard({ ...sample, roleTags }, holder.secret))).toBe('ERR_ARTEFACT_INVALID')
    expect(sealCard({ ...sample, roleTags: roleTags.slice(1) }, holder.secret).form).toBe('current')
  })
})

describe('parseCard', () => {
  it('refuses every change of one bit, or reads the same card in upper-case hex', { timeout: 60_000 }, () => {
    const bytes = new TextEncoder().encode(sampleText)
    const expected = parseCard(sampleText)
    let spellings = 0
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const text = decodeUtf8(flipBit(bytes, bit))
      if (text === undefined) continue
      let opened: unknown
      try {
        const { form: _, ...sealed } = openCard(parseCard(text), { now: NOW, verifier: openssl })
        opened = sealed
      } catch (error) {
        expect(error).toMatchObject({ code: expect.stringMatching(/^ERR_(ARTEFACT|SIGNATURE)_INVALID$/) })
        continue
      }
      expect(opened).toEqual(expected)
      expect(text.toLowerCase()).toBe(sampleText)
      spellings += 1
    }
    expect(spellings).toBe(hexLetters(sampleText))
  })

  it('ignores what it does not know, which the signature does not cover', () => {
    const extended = sampleText
      .replace('{"holder', '{"unknown":[1,{"x":null}],"holder')
      .replace('{"id"', '{"more":1.5,"id"')
    expect(parseCard(extended)).toEqual(parseCard(sampleText))
  })

  const refusals: readonly { name: string; text: string }[] = [
    { name: 'nothing', text: '' },
    { name: 'a text that ends early', text: sampleText.slice(0, -1) },
    { name: 'a list', text: `[${sampleText}]` },
    { name: 'the same key twice', text: sampleText.replace('{"holder', '{"role_tags":["coder","prüfer"],"holder') },
    {
      name: 'the same key twice in another spelling',
      text: sampleText.replace('{"holder', '{"role\\u005ftags":["coder","prüfer"],"holder'),
    },
    { name: 'the same key twice in a skill', text: sampleText.replace('{"id"', '{"id":"review","id"') },
    ...Object.keys(cardJson(parseCard(sampleText))).map((key) => ({
      name: `a card without ${key}`,
      text: sampleText.replace(`"${key}"`, `"${key}_"`),
    })),
    ...['id', 'description', 'examples'].map((key) => ({
      name: `a skill without ${key}`,
      text: sampleText.replace(`"${key}"`, `"${key}_"`),
    })),
    { name: 'a holder one digit short', text: sampleText.replace(holder.id, holder.id.slice(1)) },
    { name: 'a holder two digits long', text: sampleText.replace(holder.id, `${holder.id}00`) },
    { name: 'a holder with 0x', text: sampleText.replace(holder.id, `0x${holder.id.slice(2)}`) },
    { name: 'blanks around a holder', text: sampleText.replace(holder.id, ` ${holder.id} `) },
    { name: 'a holder of two-byte characters', text: sampleText.replace(holder.id, 'é'.repeat(32)) },
    { name: 'a holder of 64 full-width digits', text: sampleText.replace(holder.id, '０'.repeat(64)) },
    {
      name: 'a cell with a character of four bytes',
      text: sampleText.replace('ce'.repeat(32), `${'ce'.repeat(30)}🦀`),
    },
    { name: 'a channel that is a number', text: sampleText.replace(`"${'c1'.repeat(32)}"`, '1') },
    { name: 'half a surrogate pair in a role', text: sampleText.replace('"coder"', '"\\ud800"') },
    { name: 'a role that is null', text: sampleText.replace('"coder"', 'null') },
    { name: 'roles that are an object', text: sampleText.replace('["coder","prüfer"]', '{}') },
    { name: 'more roles than it takes', text: sampleText.replace('"coder"', Array(4_096).fill('"x"').join(',')) },
    { name: 'a description longer than it takes', text: sampleText.replace('reads code', 'x'.repeat(65_536)) },
    { name: 'more than a mebibyte', text: sampleText + ' '.repeat(1_048_576) },
    { name: 'lists nested too deep', text: sampleText.replace('"coder"', `${'['.repeat(300)}${']'.repeat(300)}`) },
  ]
  for (const { name, text } of refusals) {
    it(`refuses ${name}`, () => {
      expect(text).not.toBe(sampleText)
      expect(codeOf(() => parseCard(text))).toBe('ERR_ARTEFACT_INVALID')
    })
  }

  for (const digits of ['0', '9007199254740992', '9007199254740993', '18446744073709551615']) {
    it(`reads ${digits} to the last digit`, () => {
      const card = { ...sample, issuedAt: u64(0), expiresAt: u64(BigInt(digits)) }
      const text = textOf(card)
      expect(text).toContain(`"expires_at":${digits},`)
      expect(parseCard(text).body.expiresAt).toBe(BigInt(digits))
    })
  }

  for (const number of ['18446744073709551616', '-1', '1.0', '1.5', '1e3', '1E3', '"1"', 'null', 'true', '[1]']) {
    for (const key of ['issued_at', 'expires_at']) {
      it(`refuses ${number} for ${key}`, () => {
        const text = sampleText.replace(new RegExp(`"${key}":\\d+`), `"${key}":${number}`)
        expect(codeOf(() => parseCard(text))).toBe('ERR_ARTEFACT_INVALID')
      })
    }
  }
})

describe('openCard', () => {
  const at = (now: bigint, card: AgentCard = sample, skewSeconds?: number) =>
    openCard(sealCard(card, holder.secret), { now: u64(now), ...(skewSeconds === undefined ? {} : { skewSeconds }) })
  const times: readonly { name: string; open: () => unknown; code: ErrorCode | undefined }[] = [
    { name: 'takes a card issued 59 seconds ahead', open: () => at(NOW - 59n), code: undefined },
    { name: 'takes a card issued 60 seconds ahead', open: () => at(NOW - 60n), code: undefined },
    { name: 'refuses a card issued 61 seconds ahead', open: () => at(NOW - 61n), code: 'ERR_ARTEFACT_EARLY' },
    { name: 'takes a card issued ahead by the skew given', open: () => at(NOW - 90n, sample, 90), code: undefined },
    {
      name: 'refuses a card issued a second ahead without a skew',
      open: () => at(NOW - 1n, sample, 0),
      code: 'ERR_ARTEFACT_EARLY',
    },
    { name: 'takes a card in its last second', open: () => at(NOW + 3_599n), code: undefined },
    { name: 'refuses a card in the second it expires', open: () => at(NOW + 3_600n), code: 'ERR_ARTEFACT_EXPIRED' },
    { name: 'gives an expired card no skew', open: () => at(NOW + 3_659n), code: 'ERR_ARTEFACT_EXPIRED' },
    {
      name: 'refuses a card that holds for no time',
      open: () => at(NOW, { ...sample, expiresAt: NOW }),
      code: 'ERR_ARTEFACT_EXPIRED',
    },
    {
      name: 'refuses the last second there is, when nothing can hold any more',
      open: () => at(U64_MAX, { ...sample, expiresAt: U64_MAX }),
      code: 'ERR_ARTEFACT_EXPIRED',
    },
  ]
  for (const { name, open, code: expected } of times) {
    it(name, () => {
      expect(codeOf(open)).toBe(expected)
    })
  }

  const changes: readonly { name: string; change: ExactObject }[] = [
    { name: 'another holder', change: { holder_pubkey: stranger.id } },
    { name: 'a role more', change: { role_tags: ['coder', 'prüfer', 'admin'] } },
    { name: 'two roles joined', change: { role_tags: ['coderprüfer'] } },
    { name: 'a skill less', change: { skills: [] } },
    { name: 'a cell moved to the channels', change: { cells: [], channels: ['ce'.repeat(32), 'c1'.repeat(32)] } },
    { name: 'a longer life', change: { expires_at: U64_MAX } },
    { name: 'an earlier start', change: { issued_at: 0n } },
  ]
  for (const { name, change } of changes) {
    it(`refuses ${name} after signing, expired or not`, () => {
      const changed = parseCard({ ...cardJson(parseCard(sampleText)), ...change })
      for (const now of [NOW, U64_MAX]) {
        expect(codeOf(() => openCard(changed, { now, acceptLegacy: true }))).toBe('ERR_SIGNATURE_INVALID')
      }
    })
  }

  it('refuses a card that somebody else signed for the holder', () => {
    expect(codeOf(() => openCard(signedBy(stranger.secret, AGENT_CARD, sample), { now: NOW }))).toBe(
      'ERR_SIGNATURE_INVALID',
    )
  })
})

const publicKeys = new Map<string, KeyObject>()

/** A witness that is fast where signatures are wrong. */
function openssl(signature: Uint8Array, message: Uint8Array, publicKey: Uint8Array): boolean {
  const id = toHex(publicKey) as HolderId
  const key = publicKeys.get(id) ?? createPublicKey({ key: { ...holderJwk(id) }, format: 'jwk' })
  publicKeys.set(id, key)
  return opensslVerify(null, message, key, signature)
}

function bodyText(card: AgentCard): string {
  return writeExactJson({ ...cardJson({ body: card, signature: '' as never }) })
}

/** The letters a to f in the hex members, each of which has a second spelling. */
function hexLetters(text: string): number {
  const members = text.match(/"[0-9a-f]{64,}"/g) ?? []
  return members.join('').replace(/[^a-f]/g, '').length
}

function arbitraries(cards: fc.Arbitrary<AgentCard>) {
  return { roleTags: cards.map(({ roleTags }) => roleTags), cells: cards.map(({ cells }) => cells) }
}

function constants({ holder: id, skills, channels, issuedAt, expiresAt }: AgentCard) {
  return {
    holder: fc.constant(id),
    skills: fc.constant(skills),
    channels: fc.constant(channels),
    issuedAt: fc.constant(issuedAt),
    expiresAt: fc.constant(expiresAt),
  }
}
