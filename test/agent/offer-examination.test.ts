import { describe, expect, it } from 'vitest'
import { examine, type Shown } from '../../src/agent/buying/offer-examination.ts'
import { reportJson, reportText } from '../../src/agent/buying/offer-report.ts'
import { type AgentCard, cardJson, sealCard } from '../../src/cards/index.ts'
import { seal } from '../../src/core/artefact.ts'
import { CtError } from '../../src/core/errors.ts'
import { writeExactJson } from '../../src/core/exact-json.ts'
import { type HolderKey } from '../../src/core/keys.ts'
import { u64 } from '../../src/core/u64.ts'
import { CAPACITY_OFFER, type CapacityOffer, offerJson } from '../../src/offers/index.ts'
import { signedBy } from '../core/forged.ts'
import { START, terms } from '../offers/settings.ts'
import { seller, stranger } from '../offers/signed.ts'

const now = u64(START)
const life = { issuedAt: u64(START), expiresAt: u64(START + 60) }

interface Show {
  readonly offer?: Partial<CapacityOffer>
  readonly card?: Partial<AgentCard> | null
  readonly tools?: readonly string[]
  readonly key?: HolderKey
  readonly cardKey?: HolderKey
  /** Changes the texts after signing. */
  readonly tamper?: (text: string) => string
  readonly at?: number
}

function findings({ offer = {}, card = {}, tools = ['ping'], key = seller, cardKey = seller, tamper, at }: Show) {
  const body: CapacityOffer = { holder: key.id, ...terms, ...life, ...offer }
  const about = { roleTags: ['a'], skills: [], cells: [], channels: [], ...life }
  const change = tamper ?? ((text) => text)
  const shown = {
    offer: change(writeExactJson(offerJson(signedBy(key.secret, CAPACITY_OFFER, body)))),
    card:
      card === null
        ? undefined
        : change(writeExactJson(cardJson(sealCard({ holder: cardKey.id, ...about, ...card }, cardKey.secret)))),
    tools,
  }
  const result = examine(shown, seller.id, { now: u64(at ?? START), skewSeconds: 60 })
  expect(result.offer?.body.holder).toBe(body.holder)
  expect(result.trusted === undefined).toBe(result.findings.length > 0)
  expect(result.card === undefined).toBe(card === null)
  return result.findings.map(({ code, message }) => `${code}: ${message}`)
}

describe('examine', () => {
  it('finds nothing wrong with a peer that shows its own and serves what it declares', () => {
    const tools = [
      'agent/card',
      'auction/bid',
      'auction/offer',
      'ping',
      'service/safety_check',
      'service/static_analysis',
    ]
    expect(findings({ tools })).toEqual([])
    expect(findings({ tools, card: null })).toEqual([])
    expect(findings({ tools: [] })).toEqual([])
    expect(findings({ offer: { services: [] } })).toEqual([])
  })

  it('names what is served beyond the offer, each once', () => {
    const tools = ['service/safety_check', 'service/b', 'service/a', 'service/b', 'service/']
    const [finding, ...others] = findings({ tools })
    expect(others).toEqual([])
    expect(finding).toMatch(/^ERR_CATALOG_EXCEEDED: .*"service\/b", "service\/a", "service\/"/)
    expect(findings({ offer: { services: [] }, tools: ['service/safety_check'] })).toHaveLength(1)
  })

  it('bounds what it repeats of a peer', () => {
    const tools = Array.from({ length: 5_000 }, (_, index) => `service/${index}\u202e${'x'.repeat(1_000)}`)
    const [finding = ''] = findings({ tools })
    expect(finding.length).toBeLessThan(2_000)
    expect(finding).toContain('and others')
    expect(finding).not.toContain('\u202e')
  })

  it('finds fault with an offer of which a buyer could not tell what is served', () => {
    for (const services of [
      [{ Custom: 'Static-Analysis' }, { Custom: 'static_analysis' }],
      ['SafetyCheck', { Custom: 'safety_check' }],
    ] as const) {
      expect(findings({ offer: { services } })).toEqual([expect.stringMatching(/^ERR_CATALOG_EXCEEDED: .*"service\//)])
    }
  })

  it('finds no fault with a service that is declared twice: it is one', () => {
    const services = ['SafetyCheck', { Custom: 'a' }, 'SafetyCheck', { Custom: 'a' }] as const
    expect(findings({ offer: { services }, tools: ['service/a'] })).toEqual([])
  })

  it('finds an offer and a card of another key, however well they are signed', () => {
    const codes = (show: Show) => findings(show).map((finding) => finding.split(':')[0])
    expect(codes({ key: stranger })).toEqual(['ERR_SIGNER_MISMATCH'])
    expect(codes({ cardKey: stranger })).toEqual(['ERR_SIGNER_MISMATCH'])
    expect(codes({ key: stranger, cardKey: stranger })).toEqual(['ERR_SIGNER_MISMATCH', 'ERR_SIGNER_MISMATCH'])
    expect(codes({ offer: { holder: stranger.id } })).toEqual(['ERR_SIGNATURE_INVALID', 'ERR_SIGNER_MISMATCH'])
  })

  it('finds everything at once', () => {
    const found = findings({ at: START + 60, tools: ['service/x'], cardKey: stranger })
    expect(found.map((finding) => finding.split(':')[0])).toEqual([
      'ERR_ARTEFACT_EXPIRED',
      'ERR_ARTEFACT_EXPIRED',
      'ERR_SIGNER_MISMATCH',
      'ERR_CATALOG_EXCEEDED',
    ])
  })

  it('finds what was changed after signing, and what is of the future', () => {
    const tamper = (text: string) => text.replace(`"issued_at":${START}`, `"issued_at":${START - 1}`)
    expect(findings({ tamper })).toEqual([
      expect.stringContaining('ERR_SIGNATURE_INVALID: capacity offer'),
      expect.stringContaining('ERR_SIGNATURE_INVALID: agent card'),
    ])
    expect(findings({ at: START - 60 })).toEqual([])
    expect(findings({ at: START - 61 })).toHaveLength(2)
  })

  const good = writeExactJson(offerJson(seal(CAPACITY_OFFER, { holder: seller.id, ...terms, ...life }, seller.secret)))
  const noTool = new CtError('ERR_TOOL_UNKNOWN', 'no such tool')
  const unread: readonly (readonly [string, Shown, string])[] = [
    ['an offer without members', { offer: '{}', card: undefined, tools: [] }, 'ERR_ARTEFACT_INVALID'],
    ['an offer of nothing', { offer: '', card: undefined, tools: ['service/x'] }, 'ERR_ARTEFACT_INVALID'],
    ['no offer', { offer: noTool, card: undefined, tools: [] }, 'ERR_TOOL_UNKNOWN'],
    ['a card without members', { offer: good, card: '{}', tools: [] }, 'ERR_ARTEFACT_INVALID'],
    ['a card that is not shown', { offer: good, card: noTool, tools: [] }, 'ERR_TOOL_UNKNOWN'],
  ]
  for (const [name, shown, code] of unread) {
    it(`reports ${name} as what it found`, () => {
      const examination = examine(shown, seller.id, { now })
      expect(examination).toMatchObject({ trusted: undefined, findings: [{ code }] })
      expect(examination.offer === undefined).toBe(shown.offer !== good)
      const report = { ...examination, peer: seller.id, tools: shown.tools, bid: undefined, match: undefined }
      expect(reportJson(report)).toMatchObject({
        valid: false,
        findings: [{ code }],
        offer: shown.offer === good ? { holder_pubkey: seller.id } : null,
        card: null,
      })
      expect(reportText(report, now)).toMatch(new RegExp(`^problem +${code}: `, 'm'))
    })
  }
})
