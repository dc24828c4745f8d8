import { canonicalizeAgentCard, verifyAgentCardSignature } from '@a2a-js/sdk'
import fc from 'fast-check'
import { EmbeddedJWK, flattenedVerify, importJWK } from 'jose'
import { describe, expect, it, vi } from 'vitest'
import { canonicalA2aCard } from '../../src/cards/a2a-canonical.ts'
import { a2aCard, CARD_EXTENSION, didKey, holderJwk, sealCard, signA2aCard } from '../../src/cards/index.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type HolderId } from '../../src/core/ids.ts'
import { anyCard, codeOf, holder, rejection, sample, stranger } from './sample-card.ts'

const version = '1.2.3'
const unsigned = a2aCard(sealCard(sample, holder.secret), { version })
const signed = await signA2aCard(unsigned, holder.secret)
const signedText = writeExactJson(signed)

describe('a2aCard', () => {
  it('has every member that A2A requires, and says what the native card says', () => {
    expect(
      a2aCard(sealCard(sample, holder.secret), { version, name: 'Reviewer', url: 'https://agent.example' }),
    ).toEqual({
      name: 'Reviewer',
      description: 'Agent for coder, prüfer',
      supportedInterfaces: [
        { url: 'https://agent.example', protocolBinding: 'urn:ct-agent:mcp-channel:v1', protocolVersion: '1.0' },
      ],
      version,
      capabilities: {
        extensions: [{ uri: CARD_EXTENSION, description: expect.any(String), params: { card: expect.any(String) } }],
      },
      defaultInputModes: ['application/json'],
      defaultOutputModes: ['application/json', 'text/plain'],
      skills: [
        {
          id: 'review',
          name: 'review',
          description: 'reads code, finds faults 🦀',
          tags: ['coder', 'prüfer'],
          examples: ['look at "this"'],
        },
      ],
    })
  })

  it('names the roles as skills where a card has none', () => {
    const native = sealCard({ ...sample, skills: [] }, holder.secret)
    expect(a2aCard(native, { version })).toMatchObject({
      skills: [
        { id: 'coder', name: 'coder', description: 'Acts as coder', tags: ['coder'] },
        { id: 'prüfer', tags: ['prüfer'] },
      ],
    })
  })

  it('refuses a card with neither', () => {
    const native = sealCard({ ...sample, skills: [], roleTags: [''] }, holder.secret)
    expect(codeOf(() => a2aCard(native, { version }))).toBe('ERR_ARTEFACT_INVALID')
  })

  it('has the same canonical form for the specification and for the SDK, whatever the native card says', () => {
    const texts = fc.constantFrom('', 'a', '0', ' ', 'ü', '"')
    fc.assert(
      fc.property(anyCard(texts), fc.record({ name: texts, description: texts, url: texts }), (card, options) => {
        const native = sealCard({ ...card, roleTags: [...card.roleTags, 'role'] }, holder.secret)
        const written = a2aCard(native, { version, ...options })
        expect(new TextDecoder().decode(canonicalA2aCard(written))).toBe(canonicalizeAgentCard(written as never))
      }),
      { numRuns: 50 },
    )
  })
})

describe('signA2aCard', () => {
  const [entry] = signed.signatures
  const payload = Buffer.from(canonicalA2aCard(signed)).toString('base64url')

  it('makes a JWS that jose verifies with the public key', async () => {
    const key = await importJWK({ ...holderJwk(holder.id) }, 'EdDSA')
    const { protectedHeader } = await flattenedVerify({ payload, ...entry } as never, key)
    const did = didKey(holder.id)
    expect(protectedHeader).toEqual({
      alg: 'EdDSA',
      typ: 'JOSE',
      kid: `${did}#${did.slice('did:key:'.length)}`,
      jwk: holderJwk(holder.id),
    })
    const other = await importJWK({ ...holderJwk(stranger.id) }, 'EdDSA')
    await expect(flattenedVerify({ payload, ...entry } as never, other)).rejects.toThrow()
  })

  it('makes a JWS that says with which key it verifies', async () => {
    const { key } = await flattenedVerify({ payload, ...entry } as never, EmbeddedJWK)
    expect(await crypto.subtle.exportKey('raw', key as never)).toEqual(
      new Uint8Array(Buffer.from(holder.id, 'hex')).buffer,
    )
  })

  it('makes a card that the A2A SDK verifies', async () => {
    const asked: string[] = []
    const verify = verifyAgentCardSignature(async (kid) => {
      asked.push(kid)
      return { ...holderJwk(holder.id) }
    })
    await expect(verify(JSON.parse(signedText))).resolves.toBeUndefined()
    expect(asked).toEqual([expect.stringContaining(didKey(holder.id))])
    vi.spyOn(console, 'debug').mockReturnValue()
    await expect(verify({ ...JSON.parse(signedText), name: 'other' })).rejects.toThrow()
    vi.restoreAllMocks()
  })

  it('signs the same card with the same bytes', async () => {
    expect(await signA2aCard(unsigned, holder.secret)).toEqual(signed)
  })

  it('refuses the secret of another holder', async () => {
    await expect(signA2aCard(unsigned, stranger.secret)).rejects.toThrow(RangeError)
  })

  it('refuses to sign what no reader takes', async () => {
    const native = sealCard({ ...sample, roleTags: Array(13).fill('"'.repeat(40_000)) }, holder.secret)
    const large = a2aCard(native, { version })
    expect(await rejection(signA2aCard(large, holder.secret))).toBe('ERR_ARTEFACT_INVALID')
  })
})

describe('holderJwk and didKey', () => {
  it('agree with RFC 8037, appendix A.2', () => {
    const id = 'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a' as HolderId
    expect(holderJwk(id)).toEqual({ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' })
  })

  it('agree with the example of did:key', () => {
    const id = '2e6fcce36701dc791488e0d0b1745cc1e33a4c1c9fcc41c63bd343dbbe0970e6' as HolderId
    expect(didKey(id)).toBe('did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK')
  })
})
