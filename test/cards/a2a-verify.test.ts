import { FlattenedSign, importJWK } from 'jose'
import { describe, expect, it } from 'vitest'
import { canonicalA2aCard } from '../../src/cards/a2a-canonical.ts'
import {
  type AgentCard,
  a2aCard,
  CARD_EXTENSION,
  holderJwk,
  parseCard,
  type SignedA2aCard,
  sealCard,
  signA2aCard,
  verifyA2aCard,
} from '../../src/cards/index.ts'
import { decodeUtf8 } from '../../src/core/bytes.ts'
import { type ErrorCode } from '../../src/core/errors.ts'
import { type ExactJson, type ExactObject, writeExactJson } from '../../src/core/exact-json.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { type HolderKey, holderKey, SecretKey, sign as signBytes } from '../../src/core/keys.ts'
import { U64_MAX, u64 } from '../../src/core/u64.ts'
import vectors from '../vectors/cards.json' with { type: 'json' }
import { flipBit, holder, NOW, rejection, sample, stranger } from './sample-card.ts'

const version = '1.2.3'
const unsigned = a2aCard(sealCard(sample, holder.secret), { version })
const signed = await signA2aCard(unsigned, holder.secret)
const signedText = writeExactJson(signed)

describe('verifyA2aCard', () => {
  const options = { now: NOW }

  it('finds the holder and the native card, without being told the key', async () => {
    const { holder: found, card, native } = await verifyA2aCard(signedText, options)
    expect(found).toBe(holder.id)
    expect(writeExactJson(card)).toBe(signedText)
    expect(native).toEqual(sealCard(sample, holder.secret))
  })

  it('takes any order and spacing of members', async () => {
    const { signatures, ...rest } = signed
    const turned = JSON.stringify(
      Object.fromEntries([['signatures', signatures], ...Object.entries(rest).reverse()]),
      null,
      2,
    )
    expect((await verifyA2aCard(turned, options)).holder).toBe(holder.id)
  })

  it('takes a card that is larger than any other text', async () => {
    const large: AgentCard = { ...sample, roleTags: ['a'.repeat(60_000), 'b'.repeat(60_000)] }
    const text = writeExactJson(await sign({ native: large }))
    expect((await verifyA2aCard(text, options)).native?.body).toEqual(large)
  })

  it('takes one good signature among bad ones', async () => {
    const bad = { protected: 'e30', signature: 'AAAA' }
    const text = writeExactJson({ ...signed, signatures: [bad, ...signed.signatures] })
    expect((await verifyA2aCard(text, options)).holder).toBe(holder.id)
  })

  it('takes hints in the header that nothing signs, and follows none', async () => {
    for (const header of [{}, { jku: 'https://x.example/keys' }, { x5c: [], cty: 'x' }]) {
      expect((await verifyA2aCard(withHeader(header), options)).holder).toBe(holder.id)
    }
  })

  const unsignedHeaders: readonly ExactObject[] = [
    { jwk: { ...holderJwk(stranger.id) } },
    { kid: 'x' },
    { typ: 'JOSE' },
    { alg: 'none' },
    { b64: false },
    { crit: ['b64'] },
    { later: 1n },
  ]
  for (const header of unsignedHeaders) {
    it(`refuses ${writeExactJson(header)} in the header that nothing signs`, async () => {
      expect(await rejection(verifyA2aCard(withHeader(header), options))).toBe('ERR_SIGNATURE_INVALID')
    })
  }

  it('refuses a header of another shape', async () => {
    for (const header of ['x', [], null]) {
      expect(await rejection(verifyA2aCard(withHeader(header), options))).toBe('ERR_ARTEFACT_INVALID')
    }
  })

  it('verifies a card without a native one against the holder it is given, and no other', async () => {
    const text = writeExactJson(await sign({ change: { capabilities: {} } }))
    expect(await verifyA2aCard(text, { ...options, holder: holder.id })).toMatchObject({ native: undefined })
    expect(await rejection(verifyA2aCard(text, { ...options, holder: stranger.id }))).toBe('ERR_SIGNATURE_INVALID')
    expect(await rejection(verifyA2aCard(text, options))).toBe('ERR_ARTEFACT_INVALID')
  })

  it('takes a native card of the old form behind the switch alone', async () => {
    const { json = '', secret = '' } = vectors.cards.find(({ form }) => form === 'legacy') ?? {}
    const native = parseCard(json)
    const card = { ...unsigned, ...extension(json) }
    const key = holderKey(new SecretKey(new Uint8Array(Buffer.from(secret, 'hex'))))
    const old = writeExactJson(await signA2aCard(card, key.secret))
    const now = native.body.issuedAt
    expect(await rejection(verifyA2aCard(old, { now }))).toBe('ERR_SIGNATURE_LEGACY')
    expect((await verifyA2aCard(old, { now, acceptLegacy: true })).native?.form).toBe('legacy')
  })

  it('refuses every change of one bit in a small card', MANY, async () => {
    const { signatures } = await signA2aCard({ name: 'x' }, holder.secret)
    const bytes = new TextEncoder().encode(writeExactJson({ name: 'x', signatures }))
    const checks = { ...options, holder: holder.id }
    expect(await rejection(verifyA2aCard(decodeUtf8(bytes) ?? '', checks))).toBeUndefined()
    for (let bit = 0; bit < bytes.length * 8; bit += 1) await expectRefusal(flipBit(bytes, bit), checks)
  })

  it('refuses changes of one bit all over a whole card', MANY, async () => {
    const bytes = new TextEncoder().encode(signedText)
    for (let at = 0; at < bytes.length; at += 5) await expectRefusal(flipBit(bytes, at * 8 + (at % 7)), options)
  })

  it('refuses every other spelling of the signature', async () => {
    const [entry] = signed.signatures
    const last = entry?.signature.at(-1) ?? ''
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    const others = [...alphabet]
      .filter((letter) => letter !== last)
      .map((letter) => entry?.signature.slice(0, -1) + letter)
    for (const signature of [...others, `${entry?.signature}=`, ` ${entry?.signature}`]) {
      const text = writeExactJson({ ...signed, signatures: [{ ...entry, signature }] } as never)
      expect(await rejection(verifyA2aCard(text, options))).toBe('ERR_SIGNATURE_INVALID')
    }
  })

  const refusals: readonly {
    name: string
    text: () => string | Promise<string>
    code: ErrorCode
    holder?: HolderId
  }[] = [
    { name: 'a name changed after signing', text: () => changed({ name: 'Other' }), code: 'ERR_SIGNATURE_INVALID' },
    { name: 'a member added after signing', text: () => changed({ iconUrl: '' }), code: 'ERR_SIGNATURE_INVALID' },
    { name: 'no signature', text: () => changed({ signatures: [] }), code: 'ERR_SIGNATURE_INVALID' },
    { name: 'no list of signatures', text: () => writeExactJson(unsigned), code: 'ERR_ARTEFACT_INVALID' },
    {
      name: 'more signatures than it takes',
      text: () => changed({ signatures: Array(9).fill(signed.signatures[0]) }),
      code: 'ERR_ARTEFACT_INVALID',
    },
    {
      name: 'a signature of somebody else over the whole card',
      text: () => signedBy(stranger, unsigned),
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'a card of another than the given holder',
      text: () => signedText,
      holder: stranger.id,
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'a native card that the holder did not sign',
      text: async () =>
        writeExactJson(
          await signA2aCard(
            { ...unsigned, ...extension(nativeText(unsigned).replace('coder', 'admin')) },
            holder.secret,
          ),
        ),
      code: 'ERR_SIGNATURE_INVALID',
    },
    {
      name: 'an expired native card',
      text: async () => writeExactJson(await sign({ native: { ...sample, expiresAt: NOW } })),
      code: 'ERR_ARTEFACT_EXPIRED',
    },
    {
      name: 'a native card from the future',
      text: async () =>
        writeExactJson(await sign({ native: { ...sample, issuedAt: u64(NOW + 61n), expiresAt: U64_MAX } })),
      code: 'ERR_ARTEFACT_EARLY',
    },
    {
      name: 'two native cards',
      text: () => {
        const [one] = extension(nativeText(unsigned)).capabilities.extensions
        return changed({ capabilities: { extensions: [one, one] } as never })
      },
      code: 'ERR_ARTEFACT_INVALID',
    },
    {
      name: 'a native card that is not a text',
      text: () => changed({ capabilities: { extensions: [{ uri: CARD_EXTENSION, params: { card: {} } }] } }),
      code: 'ERR_ARTEFACT_INVALID',
    },
    {
      name: 'a key twice',
      text: () => signedText.replace('{"name"', '{"version":"1.2.3","name"'),
      code: 'ERR_ARTEFACT_INVALID',
    },
    {
      name: 'an integer that no double holds',
      text: () => changed({ later: 2n ** 53n + 1n }),
      code: 'ERR_ARTEFACT_INVALID',
    },
    { name: 'nothing', text: () => '', code: 'ERR_ARTEFACT_INVALID' },
    { name: 'a list', text: () => '[]', code: 'ERR_ARTEFACT_INVALID' },
    { name: 'the native card itself', text: () => nativeText(unsigned), code: 'ERR_ARTEFACT_INVALID' },
  ]
  for (const { name, text, code: expected, holder: given } of refusals) {
    it(`refuses ${name}`, async () => {
      const checks = { ...options, ...(given === undefined ? {} : { holder: given }) }
      expect(await rejection(verifyA2aCard(await text(), checks))).toBe(expected)
    })
  }

  const headers = [
    '{"alg":"none"}',
    '{"alg":"HS256"}',
    '{"alg":"EdDSA","crit":["later"],"later":1}',
    '{"alg":"EdDSA","crit":[]}',
    '{"alg":"EdDSA","crit":["b64"],"b64":false}',
    '{"alg":"EdDSA","crit":["b64"],"b64":true}',
    '{"alg":"EdDSA","b64":false}',
    '{"alg":"EdDSA","b64":true}',
    '{"alg":"none","alg":"EdDSA"}',
    '{"alg":"EdDSA","alg":"EdDSA"}',
    '{"alg":"EdDSA","x":{"y":1,"\\u0079":1}}',
    '{"alg":"EdDSA","x":1e999}',
    '\ufeff{"alg":"EdDSA"}',
    '[]',
    '{}',
  ]
  it('takes a header with nothing but the algorithm, by either name', async () => {
    for (const header of ['{"alg":"EdDSA"}', ' { "alg" : "Ed25519" } ', '{"alg":"EdDSA","typ":"JWT","later":1}']) {
      const head = Buffer.from(header).toString('base64url')
      const body = Buffer.from(canonicalA2aCard(unsigned)).toString('base64url')
      const signature = Buffer.from(signBytes(Buffer.from(`${head}.${body}`), holder.secret)).toString('base64url')
      const text = writeExactJson({ ...unsigned, signatures: [{ protected: head, signature }] })
      expect((await verifyA2aCard(text, options)).holder).toBe(holder.id)
    }
  })

  for (const header of headers) {
    it(`refuses the header ${header}, however it is signed`, async () => {
      const head = Buffer.from(header).toString('base64url')
      const body = Buffer.from(canonicalA2aCard(unsigned)).toString('base64url')
      const signature = Buffer.from(signBytes(Buffer.from(`${head}.${body}`), holder.secret)).toString('base64url')
      const text = writeExactJson({ ...unsigned, signatures: [{ protected: head, signature }] })
      expect(await rejection(verifyA2aCard(text, options))).toBe('ERR_SIGNATURE_INVALID')
    })
  }
})

/** Thousands of signatures are checked. */
const MANY = { timeout: 60_000 }

async function expectRefusal(bytes: Uint8Array, checks: Parameters<typeof verifyA2aCard>[1]): Promise<void> {
  const text = decodeUtf8(bytes)
  if (text === undefined) return
  expect(await rejection(verifyA2aCard(text, checks)), text).toMatch(/^ERR_(ARTEFACT|SIGNATURE)_INVALID$/)
}

function withHeader(header: ExactJson): string {
  return writeExactJson({ ...signed, signatures: signed.signatures.map((entry) => ({ ...entry, header })) })
}

function changed(change: ExactObject): string {
  return writeExactJson({ ...signed, ...change })
}

async function sign({
  native = sample,
  change = {},
}: {
  readonly native?: AgentCard
  readonly change?: ExactObject
}): Promise<SignedA2aCard> {
  return signA2aCard({ ...a2aCard(sealCard(native, holder.secret), { version }), ...change }, holder.secret)
}

/** A JWS by the library alone. */
async function signedBy(key: HolderKey, card: ExactObject): Promise<string> {
  const d = Buffer.from(key.secret.reveal()).toString('base64url')
  const jws = await new FlattenedSign(canonicalA2aCard(card))
    .setProtectedHeader({ alg: 'EdDSA', typ: 'JOSE', kid: 'x', jwk: holderJwk(key.id) })
    .sign(await importJWK({ ...holderJwk(key.id), d }, 'EdDSA'))
  return writeExactJson({ ...card, signatures: [{ protected: jws.protected ?? '', signature: jws.signature }] })
}

function extension(card: string) {
  return { capabilities: { extensions: [{ uri: CARD_EXTENSION, description: 'x', params: { card } }] } }
}

function nativeText(card: ExactObject): string {
  return JSON.parse(writeExactJson(card)).capabilities.extensions[0].params.card
}
