import { describe, expect, it } from 'vitest'
import { canonicalA2aCard, canonicalJson } from '../../src/cards/a2a-canonical.ts'
import { parseExactJson } from '../../src/core/exact-json.ts'
import jcs from '../vectors/jcs.json' with { type: 'json' }
import { codeOf } from './sample-card.ts'

describe('canonicalJson', () => {
  it(`writes the sample of ${jcs.sample.name}`, () => {
    expect(Buffer.from(canonicalJson(parseExactJson(jcs.sample.json, 'sample'))).toString('hex')).toBe(
      jcs.sample.canonical,
    )
  })

  it(`orders members as in ${jcs.order.name}`, () => {
    const canonical = canonicalJson(parseExactJson(jcs.order.json, 'sample'))
    expect(Object.values(JSON.parse(canonical.replaceAll('"1":', '"_1":')))).toEqual(jcs.order.values)
  })

  for (const [bits = '', text = ''] of jcs.numbers) {
    it(`writes the double ${bits} as ${text}`, () => {
      expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text)
    })
  }

  const refusals = ['9007199254740993', '1e400', `1${'0'.repeat(400)}`, '"\\ud800"', '{"\\udead":1}']
  for (const text of refusals) {
    it(`refuses ${text.slice(0, 20)}, which has no form of its own`, () => {
      expect(codeOf(() => canonicalJson(parseExactJson(text, 'sample')))).toBe('ERR_ARTEFACT_INVALID')
    })
  }
})

describe('canonicalA2aCard', () => {
  const forms: readonly { name: string; card: string; canonical: string }[] = [
    {
      name: 'keeps required and optional members as in the A2A specification, 8.4.1',
      card: '{"name":"Example Agent","description":"","capabilities":{"streaming":false,"pushNotifications":false,"extensions":[]},"skills":[]}',
      canonical:
        '{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}',
    },
    {
      name: 'leaves signatures out',
      card: '{"signatures":[{"protected":"","signature":""}],"name":"x"}',
      canonical: '{"name":"x"}',
    },
    {
      name: 'leaves defaults out at every depth',
      card: '{"supportedInterfaces":[{"url":"","tenant":""}],"capabilities":{"extensions":[{"uri":"u","required":false,"params":{"required":false,"list":[]}}]},"skills":[{"id":"","examples":[],"tags":[]}],"securitySchemes":{"s":{"httpAuthSecurityScheme":{"scheme":"","bearerFormat":""}},"o":{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"scopes":{},"pkceRequired":false}}}}},"securityRequirements":[{"schemes":{"s":{"list":[]}}}]}',
      canonical:
        '{"capabilities":{"extensions":[{"params":{"list":[],"required":false},"uri":"u"}]},"securityRequirements":[{"schemes":{"s":{}}}],"securitySchemes":{"o":{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"scopes":{}}}}},"s":{"httpAuthSecurityScheme":{"scheme":""}}},"skills":[{"id":"","tags":[]}],"supportedInterfaces":[{"url":""}]}',
    },
    {
      name: 'leaves out a default of the member itself alone',
      card: '{"supportedInterfaces":[{"tenant":{}},{"tenant":[]},{"tenant":false},{"tenant":null},{"tenant":""}],"securitySchemes":[],"securityRequirements":"","skills":[{"examples":false}],"capabilities":{"extensions":[{"required":null}]}}',
      canonical:
        '{"capabilities":{"extensions":[{"required":null}]},"securityRequirements":"","securitySchemes":[],"skills":[{"examples":false}],"supportedInterfaces":[{"tenant":{}},{"tenant":[]},{"tenant":false},{"tenant":null},{}]}',
    },
    {
      name: 'keeps what the schema does not know, and what does not fit it',
      card: '{"later":[],"capabilities":[],"skills":{"examples":[]},"securitySchemes":[""]}',
      canonical: '{"capabilities":[],"later":[],"securitySchemes":[""],"skills":{"examples":[]}}',
    },
  ]
  for (const { name, card, canonical } of forms) {
    it(name, () => {
      expect(new TextDecoder().decode(canonicalA2aCard(JSON.parse(card)))).toBe(canonical)
    })
  }
})
